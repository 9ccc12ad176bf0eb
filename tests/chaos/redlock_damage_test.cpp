// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redlock over nodes that lack memory, have lost some of a lock's keys, or have other programs'
// data in them.
#include "redlock_fixture.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <string>

namespace {

using namespace chaos;
using pawl::lock_mode;

constexpr pawl::lock_options writing{.ttl = long_ttl, .wait = patience};

class RedlockDamage : public redlock_fixture {
protected:
    RedlockDamage() { redlock_group::begin_set(url); }

    void execute_everywhere(const support::command_words& words) {
        for (std::size_t i = 0; i < group.node_count(); ++i)
            (void)group.node(i).execute(words);
    }
    void set_out_of_memory(bool enabled) {
        execute_everywhere({"CONFIG", "SET", "maxmemory", enabled ? "1" : "0"});
    }
    // At all nodes. A new client may know only a majority yet.
    [[nodiscard]] held_lock acquire_everywhere(const std::string& name,
                                               const pawl::lock_options& options) {
        held_lock result;
        EXPECT_TRUE(eventually([&] {
            result = {};
            result = locks.acquire(name, options);
            return group.count_of(name) == group.node_count();
        }));
        return result;
    }
    [[nodiscard]] std::optional<failure> failure_of(const std::function<void()>& call) {
        try {
            call();
        } catch (const pawl::error& e) {
            client_log.write(e.what());
            return failure{e.reason(), e.what()};
        }
        return std::nullopt;
    }

    redlock_group group;
    const std::string url = group.url();
    client locks = client_at(url), others = client_at(url);
};

//   L holds | no node has memory: SET and ZADD are refused as a script's first write
//   L's renewal and release: executed, also where the counter must be raised
TEST_F(RedlockDamage, WithoutMemoryHoldsAreRenewedAndGivenBack) {
    for (const auto& options : {writing, shared}) {
        auto lock = acquire_everywhere("it", options);
        set_out_of_memory(true);
        EXPECT_FALSE(failure_of([&] { lock.renew(); }));
        execute_everywhere({"DEL", "pawl:{it}:f"});
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0; }));
        set_out_of_memory(false);
    }
}

TEST_F(RedlockDamage, WithoutMemoryAWriterGoesOnAsAReader) {
    auto lock = acquire_everywhere("it", {.ttl = 3s, .wait = patience});
    set_out_of_memory(true);
    EXPECT_FALSE(failure_of([&] { lock.downgrade(); })) << client_log.text();
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_F(RedlockDamage, WithoutMemoryAForcedReleaseWorks) {
    for (const auto& options : {writing, shared}) {
        const auto lock = acquire_everywhere("it", options);
        set_out_of_memory(true);
        EXPECT_FALSE(failure_of([&] { EXPECT_TRUE(locks.force_release("it")); }));
        EXPECT_EQ(group.count_of("it"), 0U);
        set_out_of_memory(false);
    }
}

//   one client holds A and B, and renews both with one request to each node
//   the key KEY of A has another program's data | A's lease ends, and B's must not
TEST_F(RedlockDamage, ToOneLockEndsNoOtherHold) {
    for (const std::string key : {"pawl:{a}:f", "pawl:{a}:h"}) {
        for (const auto mode : {lock_mode::exclusive, lock_mode::shared}) {
            const pawl::lock_options options{.ttl = 3s, .wait = patience, .mode = mode};
            const auto damaged = acquire_everywhere("a", options);
            auto sound = acquire_everywhere("b", options);
            const auto first_end = sound.safe_until();
            execute_everywhere({"SET", key, "theirs"});
            EXPECT_TRUE(eventually([&] { return sound.safe_until() > first_end + 3s; }));
            EXPECT_EQ(sound.release(), release_result::released) << key;
            execute_everywhere({"DEL", "pawl:{a}", key, "pawl:{a}:d"});
        }
    }
}

TEST_F(RedlockDamage, OfTheReadersKeyIsNamed) {
    execute_everywhere({"SET", "pawl:{it}:h", "theirs"});
    const auto failed = failure_of(
        [&] { (void)locks.try_acquire("it", {.ttl = long_ttl, .mode = lock_mode::shared}); });
    ASSERT_TRUE(failed);
    EXPECT_THAT(failed->sentence, testing::HasSubstr("holds something else than Pawl's"));
    EXPECT_EQ(group.count_of("it"), 0U);
}

// `pawl ls` shows all locks although the other keys of one are another program's.
TEST_F(RedlockDamage, ToOneLockHidesNoLock) {
    const auto damaged = acquire_everywhere("a", shared), sound = acquire_everywhere("b", writing);
    for (const std::string suffix : {"f", "q", "h", "d"}) {
        execute_everywhere({"DEL", "pawl:{a}:" + suffix});
        execute_everywhere({"RPUSH", "pawl:{a}:" + suffix, "theirs"});
        EXPECT_FALSE(locks.list("").empty()) << suffix;
        EXPECT_TRUE(locks.inspect("b").held_by) << suffix;
    }
}

TEST_F(RedlockDamage, WithoutTheRightToInspectItSaysWhy) {
    const auto sound = acquire_everywhere("it", writing);
    execute_everywhere({"ACL", "SETUSER", "default", "-zcard"});
    const auto failed = failure_of([&] { (void)locks.inspect("it"); });
    ASSERT_TRUE(failed);
    EXPECT_THAT(failed->sentence, testing::HasSubstr("pawl acl")) << failed;
}

//   R reads | each node evicts the details of its readers alone, or their ends alone
//   a forced release, and R's own release, free the lock for writers
TEST_F(RedlockDamage, WithoutSomeKeysOfItsReadersTheLockIsGivenBack) {
    for (const std::string key : {"pawl:{it}:d", "pawl:{it}:h"}) {
        auto reader = acquire_everywhere("it", shared);
        execute_everywhere({"DEL", key});
        EXPECT_EQ(reader.release(), release_result::released) << key;
        EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0; })) << key;
        reader = acquire_everywhere("it", shared);
        execute_everywhere({"DEL", key});
        EXPECT_TRUE(locks.force_release("it"));
        EXPECT_EQ(group.count_of("it"), 0U) << key;
    }
}

//   W waits, and keeps readers out until a time of the nodes | their clocks are set back by a day
TEST_F(RedlockDamage, OfTheClockKeepsNoReaderOut) {
    const auto reader = acquire_everywhere("it", shared);
    for (std::size_t i = 0; i < group.node_count(); ++i) {
        const auto tomorrow = std::to_string(group.node(i).time_ms() + 86'400'000);
        (void)group.node(i).execute(
            {"SET", "pawl:{it}", "pawl:readers 0123456789abcdef " + tomorrow, "KEEPTTL"});
    }
    EXPECT_TRUE(others.try_acquire("it", {.ttl = long_ttl, .mode = lock_mode::shared}).owns_lock());
}

// A lock whose key is the one of the quarantine would stop all others, and a forced release of the
// membership's key would end the set.
TEST_F(RedlockDamage, ByTheNameOfALockIsRefused) {
    client with_template = client_at(group.url("?key={name}"));
    for (const std::string name : {"pawl:redlock", "pawl:redlock:q"}) {
        for (const auto& call :
             {std::function<void()>(
                  [&] { (void)with_template.try_acquire(name, {.ttl = long_ttl}); }),
              std::function<void()>([&] { (void)with_template.force_release(name); })}) {
            const auto failed = failure_of(call);
            ASSERT_TRUE(failed) << name;
            EXPECT_EQ(failed->reason, errc::bad_name);
        }
    }
    EXPECT_TRUE(with_template.try_acquire("other", {.ttl = long_ttl}).owns_lock());
}

}  // namespace
