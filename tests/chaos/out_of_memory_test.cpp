// The server is out of memory and evicts nothing: who holds goes on to, and can give back.
#include "scene.hpp"

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

namespace {

using namespace chaos;
using pawl::lock_mode;
using pawl::lock_options;
namespace scripts = pawl::redis::scripts;
namespace redisson_scripts = pawl::redis::redisson::scripts;

constexpr lock_options alone{.ttl = long_ttl, .wait = patience};
constexpr lock_options shared{.ttl = long_ttl, .wait = patience, .mode = lock_mode::shared};
constexpr lock_options two_of_three{
    .ttl = long_ttl, .wait = patience, .mode = lock_mode::permits, .permits = 2, .of = 3};
constexpr lock_options fair{.ttl = long_ttl, .wait = patience, .fair = true};

class OutOfMemory : public testing::Test, protected scene {
protected:
    void fill(bool on) {
        ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", on ? "1" : "0"}).text, "OK");
    }
    static support::matcher any_of_renewals() {
        return [](const support::command_words& words) {
            return script(scripts::renew)(words) || script(redisson_scripts::renew)(words);
        };
    }
    // What `renew` throws where the server refuses it, and how the release ends.
    void is_kept_and_given_back(held_lock& lock, const std::string& name) {
        for (int i = 0; i < 3; ++i) {
            const auto what = failure_of([&] { lock.renew(); });
            EXPECT_FALSE(what.has_value()) << name << what;
        }
        EXPECT_EQ(lock.state(), lock_state::held) << name;
        EXPECT_EQ(lock.release(), release_result::released) << name;
    }
};

//   A: holds | the server has no memory: ZADD and SET are refused as a script's first write
//   | A's renewal, its downgrade, its release: carried out
TEST_F(OutOfMemory, HoldsAreRenewedAndGivenBack) {
    client locks = direct();
    for (const auto& [name, options] :
         {std::pair("alone", alone), std::pair("shared", shared),
          std::pair("permits", two_of_three), std::pair("fair", fair)}) {
        auto lock = locks.acquire(name, options);
        fill(true);
        is_kept_and_given_back(lock, name);
        fill(false);
    }
}

TEST_F(OutOfMemory, ANewLockIsRefusedForTheTime) {
    client locks = direct();
    fill(true);
    const auto what = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unavailable) << what;
    fill(false);
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
}

TEST_F(OutOfMemory, OneOfSeveralReadersIsRenewed) {
    client locks = direct(), other = direct();
    auto first = locks.acquire("it", shared);
    auto second = other.acquire("it", shared);
    fill(true);
    is_kept_and_given_back(first, "the first");
    is_kept_and_given_back(second, "the second");
}

TEST_F(OutOfMemory, AWriterGoesOnAsAReader) {
    client locks = direct();
    auto lock = locks.acquire("it", alone);
    fill(true);
    const auto what = failure_of([&] { lock.downgrade(); });
    EXPECT_FALSE(what.has_value()) << what;
    EXPECT_EQ(server.ask({"GET", "pawl:{it}"}).text, "pawl:shared");
    is_kept_and_given_back(lock, "a reader that wrote");
}

// Who waited before is given the lock; an operator can take it; and all is well afterwards.
TEST_F(OutOfMemory, TheLineIsServedAndForceWorks) {
    client locks = direct(), waiting = direct();
    for (const auto& options : {alone, shared, two_of_three}) {
        auto lock = locks.acquire("it", alone);
        held_lock next;
        beside waiter([&] { next = waiting.acquire("it", options); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        fill(true);
        EXPECT_EQ(lock.release(), release_result::released);
        waiter.join();
        EXPECT_TRUE(locks.force_release("it"));
        EXPECT_FALSE(held("it"));
        fill(false);
        (void)server.ask({"DEL", "pawl:{it}:d"});
    }
}

TEST_F(OutOfMemory, RedissonsHoldsAreRenewedAndGivenBack) {
    struct object {
        std::string url;
        lock_options options;
    };
    const std::vector<object> objects{{"", alone},
                                      {"", fair},
                                      {"", two_of_three},
                                      {"&object=readwrite", alone},
                                      {"&object=readwrite", shared},
                                      {"&object=semaphore", two_of_three}};
    for (const auto& each : objects) {
        client locks = direct("?layout=redisson" + each.url);
        (void)server.ask({"FLUSHALL"});
        auto lock = locks.acquire("it", each.options);
        fill(true);
        is_kept_and_given_back(lock, each.url);
        fill(false);
    }
}

TEST_F(OutOfMemory, RedissonsWriterGoesOnAsAReader) {
    client locks = direct("?layout=redisson&object=readwrite");
    auto lock = locks.acquire("it", alone);
    fill(true);
    const auto what = failure_of([&] { lock.downgrade(); });
    EXPECT_FALSE(what.has_value()) << what;
    is_kept_and_given_back(lock, "a reader that wrote");
}

// A user may not read for a while: that says nothing about the lock, so it is no loss.
TEST_F(OutOfMemory, WhatTheServerDoesNotSayIsNoRefusal) {
    for (const std::string layout : {"", "?layout=redisson"}) {
        const auto mode = layout.empty() ? "-get" : "-hexists";
        const auto back = layout.empty() ? "+get" : "+hexists";
        ASSERT_EQ(
            server.ask({"ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*", "+@all"}).text,
            "OK");
        const auto url = proxy.url(layout);
        client locks = at("redis://locks:secret@" + url.substr(url.find("//") + 2));
        auto lock = locks.acquire("it", alone);
        ASSERT_EQ(server.ask({"ACL", "SETUSER", "locks", mode}).text, "OK");
        proxy.forget();
        std::optional<failure> what;
        beside renewing([&] { what = failure_of([&] { lock.renew(); }); });
        // Said again while there is time.
        EXPECT_TRUE(eventually([&] { return proxy.count(any_of_renewals()) > 1; })) << layout;
        EXPECT_NE(lock.state(), lock_state::lost) << layout;
        ASSERT_EQ(server.ask({"ACL", "SETUSER", "locks", back}).text, "OK");
        renewing.join();
        EXPECT_FALSE(what.has_value()) << layout << what;
        is_kept_and_given_back(lock, layout);
    }
}

}  // namespace
