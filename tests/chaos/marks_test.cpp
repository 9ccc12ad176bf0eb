// The mark of readers and holders of permits without the keys that say who they are, and those keys
// with something that is no number in them.
#include "scene.hpp"

#include <pawl/mutex.hpp>

namespace {

using namespace chaos;
using pawl::lock_mode;
using pawl::lock_options;

constexpr lock_options shared{.ttl = long_ttl, .wait = patience, .mode = lock_mode::shared};

constexpr lock_options permits(std::uint32_t count) {
    return {
        .ttl = long_ttl, .wait = patience, .mode = lock_mode::permits, .permits = count, .of = 3};
}

class Marks : public testing::Test, protected scene {
protected:
    // At once, and after a look at the server.
    void expect_taken(client& by, lock_options how, pawl::duration wait) {
        how.wait = wait;
        const auto what = failure_of([&] { (void)by.acquire("it", how); });
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::timed_out) << what;
    }
    std::string text(const std::string& key) { return server.ask({"GET", key}).text; }
    std::int64_t server_ms() {
        const auto time = server.ask({"TIME"});
        return std::stoll(time.items.at(0).text) * 1000 + std::stoll(time.items.at(1).text) / 1000;
    }
};

//   R: reads | the holders set alone is evicted, or R knows it under another key than W | W: asks:
//   the mark is there, nobody in *its* holders set | taken, until the mark's own end
TEST_F(Marks, WithoutTheirHoldersKeepEverybodyOut) {
    client locks = direct(), other = direct();
    auto reader = locks.acquire("it", shared);
    (void)server.ask({"DEL", "pawl:{it}:h"});
    expect_taken(other, {.ttl = long_ttl, .fair = true}, 0s);
    expect_taken(other, shared, 0s);
    expect_taken(other, permits(1), 0s);
    expect_taken(other, {.ttl = long_ttl}, 1500ms);
    expect_taken(other, {.ttl = long_ttl, .fair = true}, 1500ms);
    EXPECT_NE(reader.release(), release_result::released);
    EXPECT_EQ(text("pawl:{it}"), "pawl:shared");
    const auto shown = other.inspect("it");
    ASSERT_TRUE(shown.held_by.has_value());
    EXPECT_FALSE(shown.held_by->token);
    EXPECT_TRUE(other.force_release("it"));
    EXPECT_TRUE(other.acquire("it", {.ttl = long_ttl}).owns_lock());
}

// Of a scheme with other keys beside the lock: it lasts as long as it says, and no longer.
TEST_F(Marks, OfOthersLastUntilTheirEnd) {
    client locks = direct("?key={name}");
    for (const std::string mark : {"pawl:shared", "pawl:permits"}) {
        for (const bool fair : {true, false}) {
            const auto begin = server_ms();
            ASSERT_EQ(server.ask({"SET", "it", mark, "PX", "1500"}).text, "OK");
            auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience, .fair = fair});
            EXPECT_GE(server_ms() - begin, 1500) << mark;
            EXPECT_EQ(lock.release(), release_result::released);
        }
    }
}

// What is no number concerns those who count with it: everybody else goes on.
TEST_F(Marks, ANumberOfPermitsThatIsNoneIsOneSentence) {
    client locks = direct(), other = direct();
    const std::string details = "pawl:{it}:d";
    for (const std::string n : {"abc", "1.5", "", "99999999999999999999"}) {
        (void)server.ask({"HSET", details, "n", n});
        const auto what = failure_of([&] { (void)locks.acquire("it", permits(1)); });
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::wrong_type) << what;
        EXPECT_NE(what->sentence.find("pawl:{it}: "), std::string::npos) << what;
        EXPECT_NE(what->sentence.find("ends in :d"), std::string::npos) << what;
        EXPECT_EQ(locks.acquire("it", shared).release(), release_result::released);
        EXPECT_EQ(locks.acquire("it", {.ttl = long_ttl}).release(), release_result::released);
    }
    // One who waits for permits does not keep others from giving back, and is told.
    (void)server.ask({"DEL", details});
    auto alone = other.acquire("it", {.ttl = long_ttl});
    std::optional<failure> what;
    beside waiting([&] { what = failure_of([&] { (void)locks.acquire("it", permits(1)); }); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    (void)server.ask({"HSET", details, "n", "abc"});
    EXPECT_EQ(alone.release(), release_result::released);
    waiting.join();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::wrong_type) << what;
    locks.resize("it", 3);
    EXPECT_EQ(locks.acquire("it", permits(1)).release(), release_result::released);
}

// Nothing is changed before the key is put right; then all is as it was.
TEST_F(Marks, ACountOfHoldersThatIsNoneIsOneSentence) {
    client locks = direct(), other = direct();
    auto reader = locks.acquire("it", shared);
    (void)server.ask({"HSET", "pawl:{it}:d", "used", "x"});
    for (const auto& how : {shared, permits(1), lock_options{.ttl = long_ttl, .fair = true}}) {
        const auto what = failure_of([&] { (void)other.acquire("it", how); });
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::wrong_type) << what;
        EXPECT_NE(what->sentence.find("ends in :d"), std::string::npos) << what;
    }
    const auto forced = failure_of([&] { (void)other.force_release("it"); });
    EXPECT_TRUE(forced && forced->reason == errc::wrong_type) << forced;
    EXPECT_EQ(reader.state(), lock_state::held);
    EXPECT_EQ(reader.release(), release_result::unknown);
    EXPECT_EQ(text("pawl:{it}"), "pawl:shared");
    (void)server.ask({"DEL", "pawl:{it}:d"});
    EXPECT_TRUE(other.force_release("it"));
    EXPECT_EQ(other.acquire("it", permits(2)).release(), release_result::released);
}

//   A: holds | T, who may write to the keys: stands first in line, and names no client that a grant
//   could be sent to | B: waits | A: releases: B is given the lock, as if T were dead
TEST_F(Marks, AMemberOfTheLineThatNamesNoClientIsPassedOver) {
    client holds = direct(), comes = direct();
    for (const auto& how : {lock_options{.ttl = long_ttl, .wait = patience}, shared}) {
        auto lock = holds.acquire("it", {.ttl = long_ttl, .wait = patience});
        const auto lease = std::to_string(server_ms() + 1900);
        (void)server.ask({"ZADD", "pawl:{it}:q", "1", "nobody"});
        (void)server.ask({"HSET", "pawl:{it}:w", "nobody", lease + " 1200 x 00;t;h;1;w"});
        held_lock next;
        beside waiting([&] { next = comes.acquire("it", how); });
        ASSERT_TRUE(eventually([&] { return waiters("it") > 1; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_EQ(next.release(), release_result::released);
    }
}

//   R waits to read, and a grant is sent that R does not get | the grant's window ends, others hold
//   it with larger tokens | a look of R's that the network has kept arrives: R is granted it again
//   | R reads the first message, and asks to renew: the hold of the server is another one, and R
//   must not take it for the first, whose token is too small
TEST_F(Marks, ARenewalOfAnEarlierGrantIsRefused) {
    client locks = direct();
    for (const auto& how : {shared, permits(1)}) {
        auto lock = locks.acquire(
            "it",
            {.ttl = 2s, .wait = patience, .mode = how.mode, .permits = how.permits, .of = how.of});
        const bell loss(lock);
        const auto details = server.ask({"HGETALL", "pawl:{it}:d"});
        std::string owner, detail;
        for (std::size_t i = 0; i + 1 < details.items.size(); i += 2) {
            if (details.items[i + 1].text.find(';') == std::string::npos) continue;
            owner = details.items[i].text;
            detail = details.items[i + 1].text;
        }
        ASSERT_FALSE(owner.empty());
        (void)server.ask({"HSET", "pawl:{it}:d", owner, detail + "1"});
        ASSERT_TRUE(loss.rang_within(5s));
        EXPECT_EQ(lock.why_lost(), pawl::loss_reason::taken_over);
        lock = {};
        EXPECT_TRUE(locks.force_release("it"));
    }
}

}  // namespace
