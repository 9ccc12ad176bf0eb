// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server is out of memory and evicts nothing: holders keep their locks and can release them.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

namespace {

using namespace chaos;
using pawl::lock_mode;
using pawl::lock_options;
namespace scripts = pawl::redis::scripts;
namespace redisson_scripts = pawl::redis::redisson::scripts;

constexpr lock_options exclusive_options{.ttl = long_ttl, .wait = patience};

class OutOfMemory : public testing::Test, protected redis_fixture {
protected:
    void set_out_of_memory(bool enabled) {
        ASSERT_EQ(server.execute({"CONFIG", "SET", "maxmemory", enabled ? "1" : "0"}).text, "OK");
    }
    static support::matcher any_renewal() {
        return [](const support::command_words& command) {
            return script(scripts::renew)(command) || script(redisson_scripts::renew)(command);
        };
    }
    // Renewals and the release succeed.
    void expect_kept_until_release(held_lock& lock, const std::string& name) {
        for (int i = 0; i < 3; ++i) {
            const auto failed = failure_of([&] { lock.renew(); });
            EXPECT_FALSE(failed.has_value()) << name << failed;
        }
        EXPECT_EQ(lock.state(), lock_state::held) << name;
        EXPECT_EQ(lock.release(), release_result::released) << name;
    }
};

//   A: holds | the server has no memory: ZADD and SET are refused as a script's first write | A's
//   renewal, its downgrade, its release: executed
TEST_F(OutOfMemory, HoldsAreRenewedAndGivenBack) {
    client locks = direct_client();
    for (const auto& [name, options] :
         {std::pair("alone", exclusive_options), std::pair("shared", shared),
          std::pair("permits", two_of_three), std::pair("fair", fair)}) {
        auto lock = locks.acquire(name, options);
        set_out_of_memory(true);
        expect_kept_until_release(lock, name);
        set_out_of_memory(false);
    }
}

TEST_F(OutOfMemory, ANewLockIsRefusedForTheTime) {
    client locks = direct_client();
    set_out_of_memory(true);
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    set_out_of_memory(false);
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
}

TEST_F(OutOfMemory, OneOfSeveralReadersIsRenewed) {
    client locks = direct_client(), other = direct_client();
    auto first = locks.acquire("it", shared);
    auto second = other.acquire("it", shared);
    set_out_of_memory(true);
    expect_kept_until_release(first, "the first");
    expect_kept_until_release(second, "the second");
}

TEST_F(OutOfMemory, AWriterGoesOnAsAReader) {
    client locks = direct_client();
    auto lock = locks.acquire("it", exclusive_options);
    set_out_of_memory(true);
    const auto failed = failure_of([&] { lock.downgrade(); });
    EXPECT_FALSE(failed.has_value()) << failed;
    EXPECT_EQ(server.execute({"GET", "pawl:{it}"}).text, "pawl:shared");
    expect_kept_until_release(lock, "a reader that wrote");
}

// A waiter from before is granted the lock; an operator can take it; and all is well afterwards.
TEST_F(OutOfMemory, TheLineIsServedAndForceWorks) {
    client locks = direct_client(), waiting = direct_client();
    for (const auto& options : {exclusive_options, shared, two_of_three}) {
        auto lock = locks.acquire("it", exclusive_options);
        held_lock next;
        background_task waiter([&] { next = waiting.acquire("it", options); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        set_out_of_memory(true);
        EXPECT_EQ(lock.release(), release_result::released);
        waiter.join();
        EXPECT_TRUE(locks.force_release("it"));
        EXPECT_FALSE(is_held("it"));
        set_out_of_memory(false);
        (void)server.execute({"DEL", "pawl:{it}:d"});
    }
}

TEST_F(OutOfMemory, RedissonsHoldsAreRenewedAndGivenBack) {
    struct object {
        std::string url;
        lock_options options;
    };
    const std::vector<object> objects{{"", exclusive_options},
                                      {"", fair},
                                      {"", two_of_three},
                                      {"&object=readwrite", exclusive_options},
                                      {"&object=readwrite", shared},
                                      {"&object=semaphore", two_of_three}};
    for (const auto& each : objects) {
        client locks = direct_client("?layout=redisson" + each.url);
        (void)server.execute({"FLUSHALL"});
        auto lock = locks.acquire("it", each.options);
        set_out_of_memory(true);
        expect_kept_until_release(lock, each.url);
        set_out_of_memory(false);
    }
}

TEST_F(OutOfMemory, RedissonsWriterGoesOnAsAReader) {
    client locks = direct_client("?layout=redisson&object=readwrite");
    auto lock = locks.acquire("it", exclusive_options);
    set_out_of_memory(true);
    const auto failed = failure_of([&] { lock.downgrade(); });
    EXPECT_FALSE(failed.has_value()) << failed;
    expect_kept_until_release(lock, "a reader that wrote");
}

// A user may not read for a while: that says nothing about the lock, so it is no loss.
TEST_F(OutOfMemory, WhatTheServerDoesNotSayIsNoRefusal) {
    for (const std::string layout : {"", "?layout=redisson"}) {
        const auto revoked = layout.empty() ? "-get" : "-hexists";
        const auto restored = layout.empty() ? "+get" : "+hexists";
        ASSERT_EQ(
            server.execute({"ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*", "+@all"}).text,
            "OK");
        const auto url = proxy.url(layout);
        client locks = client_at("redis://locks:secret@" + url.substr(url.find("//") + 2));
        auto lock = locks.acquire("it", exclusive_options);
        ASSERT_EQ(server.execute({"ACL", "SETUSER", "locks", revoked}).text, "OK");
        proxy.forget_commands();
        std::optional<failure> failed;
        background_task renewing([&] { failed = failure_of([&] { lock.renew(); }); });
        // Repeated while there is time.
        EXPECT_TRUE(eventually([&] { return proxy.count(any_renewal()) > 1; })) << layout;
        EXPECT_NE(lock.state(), lock_state::lost) << layout;
        ASSERT_EQ(server.execute({"ACL", "SETUSER", "locks", restored}).text, "OK");
        renewing.join();
        EXPECT_FALSE(failed.has_value()) << layout << failed;
        expect_kept_until_release(lock, layout);
    }
}

}  // namespace
