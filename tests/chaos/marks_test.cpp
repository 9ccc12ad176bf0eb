// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The key that marks readers and holders of permits exists, but the keys that name the holders are
// missing, or contain values that are no numbers.
#include "redis_fixture.hpp"

#include <pawl/blocking/mutex.hpp>

namespace {

using namespace chaos;
using pawl::lock_mode;
using pawl::lock_options;

constexpr lock_options permits(std::uint32_t count) {
    return {.ttl = long_ttl,
            .wait = patience,
            .mode = lock_mode::permits,
            .permits = count,
            .total_permits = 3};
}

class Marks : public testing::Test, protected redis_fixture {
protected:
    // Somebody holds the lock until `wait` is over.
    void expect_busy(client& observer, lock_options options, pawl::duration wait) {
        options.wait = wait;
        const auto failed = failure_of([&] { (void)observer.acquire("it", options); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::timed_out) << failed;
    }
    std::string value_of(const std::string& key) { return server.execute({"GET", key}).text; }
};

//   R: reads | only the holders set is evicted, or R knows it under another key than W | W:
//   requests: the mark exists, *its* holders set is empty | held, until the mark's own end
TEST_F(Marks, WithoutTheirHoldersKeepEverybodyOut) {
    client locks = direct_client(), other = direct_client();
    auto reader = locks.acquire("it", shared);
    (void)server.execute({"DEL", "pawl:{it}:h"});
    expect_busy(other, {.ttl = long_ttl, .fair = true}, 0s);
    expect_busy(other, shared, 0s);
    expect_busy(other, permits(1), 0s);
    expect_busy(other, {.ttl = long_ttl}, 1500ms);
    expect_busy(other, {.ttl = long_ttl, .fair = true}, 1500ms);
    EXPECT_NE(reader.release(), release_result::released);
    EXPECT_EQ(value_of("pawl:{it}"), "pawl:shared");
    const auto shown = other.inspect("it");
    ASSERT_TRUE(shown.held_by.has_value());
    EXPECT_FALSE(shown.held_by->token);
    EXPECT_TRUE(other.force_release("it"));
    EXPECT_TRUE(other.acquire("it", {.ttl = long_ttl}).owns_lock());
}

// A lock of another key scheme: it lasts as long as its ttl, and no longer.
TEST_F(Marks, OfOthersLastUntilTheirEnd) {
    client locks = direct_client("?key={name}");
    for (const std::string mark : {"pawl:shared", "pawl:permits"}) {
        for (const bool fair : {true, false}) {
            const auto begin = server.time_ms();
            ASSERT_EQ(server.execute({"SET", "it", mark, "PX", "1500"}).text, "OK");
            auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience, .fair = fair});
            EXPECT_GE(server.time_ms() - begin, 1500) << mark;
            EXPECT_EQ(lock.release(), release_result::released);
        }
    }
}

// A value that is no number affects only the operations that count with it: all others work.
TEST_F(Marks, ANumberOfPermitsThatIsNoneIsOneSentence) {
    client locks = direct_client(), other = direct_client();
    const std::string details = "pawl:{it}:d";
    for (const std::string n : {"abc", "1.5", "", "99999999999999999999"}) {
        (void)server.execute({"HSET", details, "n", n});
        const auto failed = failure_of([&] { (void)locks.acquire("it", permits(1)); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::wrong_type) << failed;
        EXPECT_NE(failed->sentence.find("pawl:{it}: "), std::string::npos) << failed;
        EXPECT_NE(failed->sentence.find("ends in :d"), std::string::npos) << failed;
        EXPECT_EQ(locks.acquire("it", shared).release(), release_result::released);
        EXPECT_EQ(locks.acquire("it", {.ttl = long_ttl}).release(), release_result::released);
    }
    // A waiter for permits does not keep others from releasing, and gets an error.
    (void)server.execute({"DEL", details});
    auto alone = other.acquire("it", {.ttl = long_ttl});
    std::optional<failure> failed;
    background_task waiting(
        [&] { failed = failure_of([&] { (void)locks.acquire("it", permits(1)); }); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    (void)server.execute({"HSET", details, "n", "abc"});
    EXPECT_EQ(alone.release(), release_result::released);
    waiting.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::wrong_type) << failed;
    locks.resize("it", 3);
    EXPECT_EQ(locks.acquire("it", permits(1)).release(), release_result::released);
}

// Nothing changes before the key is repaired; then everything works as before.
TEST_F(Marks, ACountOfHoldersThatIsNoneIsOneSentence) {
    client locks = direct_client(), other = direct_client();
    auto reader = locks.acquire("it", shared);
    (void)server.execute({"HSET", "pawl:{it}:d", "used", "x"});
    for (const auto& options : {shared, permits(1), lock_options{.ttl = long_ttl, .fair = true}}) {
        const auto failed = failure_of([&] { (void)other.acquire("it", options); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::wrong_type) << failed;
        EXPECT_NE(failed->sentence.find("ends in :d"), std::string::npos) << failed;
    }
    const auto forced = failure_of([&] { (void)other.force_release("it"); });
    EXPECT_TRUE(forced && forced->reason == errc::wrong_type) << forced;
    EXPECT_EQ(reader.state(), lock_state::held);
    EXPECT_EQ(reader.release(), release_result::unknown);
    EXPECT_EQ(value_of("pawl:{it}"), "pawl:shared");
    (void)server.execute({"DEL", "pawl:{it}:d"});
    EXPECT_TRUE(other.force_release("it"));
    EXPECT_EQ(other.acquire("it", permits(2)).release(), release_result::released);
}

//   A: holds | T, who may write to the keys: is first in the queue, and names no client that could
//   receive a grant | B: waits | A: releases: B is granted the lock, as if T were dead
TEST_F(Marks, AMemberOfTheLineThatNamesNoClientIsPassedOver) {
    client holds = direct_client(), comes = direct_client();
    for (const auto& options : {lock_options{.ttl = long_ttl, .wait = patience}, shared}) {
        auto lock = holds.acquire("it", {.ttl = long_ttl, .wait = patience});
        const auto lease = std::to_string(server.time_ms() + 1900);
        (void)server.execute({"ZADD", "pawl:{it}:q", "1", "nobody"});
        (void)server.execute({"HSET", "pawl:{it}:w", "nobody", lease + " 1200 x 00;t;h;1;w"});
        held_lock next;
        background_task waiting([&] { next = comes.acquire("it", options); });
        ASSERT_TRUE(eventually([&] { return waiters("it") > 1; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_EQ(next.release(), release_result::released);
    }
}

//   R waits to read, and a grant is sent that R does not receive | the grant's window ends, others
//   hold the lock with larger tokens | a delayed refresh of R arrives: R is granted it again | R
//   reads the first message, and renews: the hold on the server is another one, and R must not take
//   it for the first, whose token is too small
TEST_F(Marks, ARenewalOfAnEarlierGrantIsRefused) {
    client locks = direct_client();
    for (const auto& options : {shared, permits(1)}) {
        auto lock = locks.acquire("it", {.ttl = 2s,
                                         .wait = patience,
                                         .mode = options.mode,
                                         .permits = options.permits,
                                         .total_permits = options.total_permits});
        const loss_recorder loss(lock);
        const auto details = server.execute({"HGETALL", "pawl:{it}:d"});
        std::string owner, detail;
        for (std::size_t i = 0; i + 1 < details.items.size(); i += 2) {
            if (details.items[i + 1].text.find(';') == std::string::npos) continue;
            owner = details.items[i].text;
            detail = details.items[i + 1].text;
        }
        ASSERT_FALSE(owner.empty());
        (void)server.execute({"HSET", "pawl:{it}:d", owner, detail + "1"});
        ASSERT_TRUE(loss.is_told_within(5s));
        EXPECT_EQ(lock.why_lost(), pawl::loss_reason::taken_over);
        lock = {};
        EXPECT_TRUE(locks.force_release("it"));
    }
}

}  // namespace
