// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redisson's layout with faults of the server and of the network. tests/interop tests the real
// Redisson.
#include "redis_fixture.hpp"

#include <redisson_scripts.hpp>

namespace {

using namespace chaos;
namespace redisson_scripts = pawl::redis::redisson::scripts;

class Redisson : public testing::Test, protected redis_fixture {
protected:
    // With loaded scripts and an open connection.
    void warm(client& locks) {
        for (int i = 0; i < 2; ++i)
            (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
        for (const auto* script_to_load : {&redisson_scripts::renew, &redisson_scripts::inspect})
            (void)server.execute({"SCRIPT", "LOAD", std::string(script_to_load->text)});
    }
    bool is_free(const std::string& name) {
        return eventually([&] { return server.execute({"EXISTS", name}).number() == 0; });
    }
    // Java's part, as its scripts do it.
    void set_java_lock(const std::string& name, int ms) {
        (void)server.execute({"HINCRBY", name, java_owner, "1"});
        (void)server.execute({"PEXPIRE", name, std::to_string(ms)});
    }
    void release_java_lock(const std::string& name) {
        (void)server.execute({"DEL", name});
        (void)server.execute({"PUBLISH", "redisson_lock__channel:{" + name + "}", "0"});
    }
};

TEST_F(Redisson, KeysAreThoseOfTheJavaSide) {
    client locks = direct_client(redisson_layout);
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    const auto hash = server.execute({"HGETALL", "it"});
    ASSERT_EQ(hash.items.size(), 2U);
    EXPECT_EQ(hash.items[1].text, "1");
    const auto& owner = hash.items[0].text;
    ASSERT_GT(owner.size(), 37U);
    for (const auto at : {8u, 13u, 18u, 23u})
        EXPECT_EQ(owner[at], '-') << owner;
    EXPECT_EQ(owner[14], '4') << owner;
    EXPECT_EQ(owner[36], ':') << owner;
    EXPECT_EQ(owner.find_first_not_of("0123456789", 37), std::string::npos) << owner;
    EXPECT_EQ(server.execute({"GET", "redisson_lock_token:{it}"}).text, to_string(lock.token()));
    EXPECT_GT(server.execute({"PTTL", "it"}).number(), 50000);

    const auto subscriber = server.connect();
    (void)subscriber->execute({"SUBSCRIBE", "redisson_lock__channel:{it}"});
    EXPECT_EQ(lock.release(), release_result::released);
    const auto heard = subscriber->receive(10s);
    ASSERT_TRUE(heard && heard->items.size() == 3);
    EXPECT_EQ(heard->items[2].text, "0");
    EXPECT_TRUE(eventually([&] {
        return server.keys() == std::vector<std::string>{"redisson_lock_token:{it}"};
    })) << "the latch stays behind";
    // Without a token, and with a template for a NameMapper; a brace leaves the name unchanged.
    client mapped = direct_client(redisson_layout + "&key=app:{name}");
    auto other = mapped.acquire("x{y}", {.ttl = long_ttl, .fenced = false});
    EXPECT_EQ(server.execute({"EXISTS", "app:x{y}"}).number(), 1);
    EXPECT_EQ(server.execute({"EXISTS", "redisson_lock_token:app:x{y}"}).number(), 0);
}

// Each side meets what the other layout left under the same key; the error names the option to set.
TEST_F(Redisson, KeysOfAnotherTypeAreRefusedWithAnAdvice) {
    client shared = direct_client(redisson_layout), plain = direct_client("?key={name}");
    set_java_lock("hash", 60000);
    (void)server.execute({"SET", "string", "theirs", "PX", "60000"});
    (void)server.execute({"HSET", "cart", "item", "7"});
    const auto fails_with = [&](const auto& call, const std::string& word) {
        const auto failed = failure_of(call);
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::wrong_type) << failed;
        EXPECT_NE(failed->sentence.find(word), std::string::npos) << failed;
    };
    fails_with(
        [&] { (void)plain.try_acquire("hash"); },
        "hash holds a hash, where Pawl keeps the lock; for a lock of Redisson set layout=redisson");
    fails_with([&] { (void)plain.acquire("hash", {.wait = patience}); }, "set layout=redisson");
    for (const std::string name : {"string", "cart"}) {
        fails_with([&] { (void)shared.try_acquire(name); }, "leave out layout=redisson");
        fails_with([&] { (void)shared.acquire(name, {.wait = patience}); },
                   "leave out layout=redisson");
        fails_with([&] { (void)shared.inspect(name); }, "leave out layout=redisson");
        fails_with([&] { (void)shared.force_release(name); }, "leave out layout=redisson");
        EXPECT_EQ(server.execute({"EXISTS", name}).number(), 1)
            << "something of another was deleted";
    }
    ASSERT_EQ(shared.list().size(), 1U);
    EXPECT_EQ(shared.list()[0].name, "hash");
    EXPECT_EQ(shared.list()[0].held_by->owner, "176d4c5e:1");
}

// Each permit is an entry, and a script that makes millions of them stops the server for all.
TEST_F(Redisson, MorePermitsAtOnceThanAServerLikesAreRefused) {
    client locks = direct_client(redisson_layout);
    const auto many = [&](std::uint32_t permits) {
        return locks.try_acquire(
            "it",
            {.mode = pawl::lock_mode::permits, .permits = permits, .total_permits = 1'000'000});
    };
    const auto failed = failure_of([&] { (void)many(10'001); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::bad_option) << failed;
    EXPECT_EQ(server.execute({"EXISTS", "it"}).number(), 0);
    EXPECT_TRUE(many(10'000).owns_lock());
}

//   acquire -> executed -> reply lost | repeated with another owner: held, by our own orphaned hold
//   | that hold is released | its message wakes us
TEST_F(Redisson, ALostAcquireIsUndone) {
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        client locks = proxied_client(redisson_layout);
        warm(locks);
        proxy.inject({.matches = script(redisson_scripts::acquire), .kind = kind});
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unreachable) << failed;
        EXPECT_TRUE(is_free("it"));
        proxy.inject({.matches = script(redisson_scripts::acquire), .kind = kind});
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(is_free("it"));
    }
}

//   acquire sent | cancelled or timed out | granted: released on the same connection
TEST_F(Redisson, ALateGrantIsGivenBack) {
    client locks = proxied_client(redisson_layout);
    warm(locks);
    proxy.inject({.matches = script(redisson_scripts::acquire),
                  .kind = fault_kind::delay_request,
                  .delay = 1s});
    const auto late =
        failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = 100ms}); });
    ASSERT_TRUE(late.has_value());
    EXPECT_TRUE(eventually([&] { return proxy.count(script(redisson_scripts::release)) >= 3; }));
    EXPECT_TRUE(is_free("it"));
    proxy.inject({.matches = script(redisson_scripts::acquire),
                  .kind = fault_kind::delay_request,
                  .delay = 1s});
    std::stop_source stop;
    background_task stopping([&] {
        if (eventually([&] { return proxy.count(support::with_word("it")) > 0; }))
            stop.request_stop();
    });
    const auto cancelled = failure_of(
        [&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token()); });
    ASSERT_TRUE(cancelled.has_value());
    EXPECT_EQ(cancelled->reason, errc::cancelled) << cancelled;
    EXPECT_TRUE(eventually([&] { return proxy.count(script(redisson_scripts::release)) >= 4; }));
    EXPECT_TRUE(is_free("it"));
}

//   release -> executed, latch 1 -> reply lost | repeated | the latch answers, although another
//   owner has the lock by now, and keeps it
TEST_F(Redisson, ALostReleaseIsAnsweredByItsLatch) {
    for (const fault_kind kind : {fault_kind::lose_reply, fault_kind::cut_reply}) {
        client locks = proxied_client(redisson_layout), other = direct_client(redisson_layout);
        warm(locks);
        auto lock = locks.acquire("it", {.ttl = long_ttl});
        held_lock next;
        background_task waiting(
            [&] { next = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
        client observer = direct_client(redisson_layout);
        ASSERT_TRUE(eventually([&] { return observer.inspect("it").waiters == 1; }));
        proxy.inject({.matches = script(redisson_scripts::release), .kind = kind});
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_EQ(next.state(), lock_state::held);
        EXPECT_FALSE(locks.try_acquire("it").owns_lock());
        EXPECT_EQ(next.release(), release_result::released);
    }
}

//   J holds | P listens | P's connection dies | J releases: the message reaches no client | P
//   connects, subscribes, refreshes at once
TEST_F(Redisson, AMessageThatNobodyHeardIsMadeUpForByALook) {
    client locks = proxied_client(redisson_layout), observer = direct_client(redisson_layout);
    warm(locks);
    set_java_lock("it", 60000);
    held_lock acquired;
    background_task waiting(
        [&] { acquired = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return observer.inspect("it").waiters == 1; }));
    proxy.refuse(true);
    proxy.kill_connections();
    ASSERT_TRUE(eventually([&] { return observer.inspect("it").waiters == 0; }));
    release_java_lock("it");
    proxy.refuse(false);
    waiting.join();
    EXPECT_EQ(acquired.state(), lock_state::held);
    EXPECT_TRUE(eventually([&] { return observer.inspect("it").waiters == 0; }));
}

//   J holds | P waits | the message is lost, the connection is not | P's refresh finds the lock
//   free
TEST_F(Redisson, ALostMessageIsMadeUpForByALook) {
    client locks = proxied_client(redisson_layout), observer = direct_client(redisson_layout);
    set_java_lock("it", 60000);
    held_lock acquired;
    background_task waiting(
        [&] { acquired = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return observer.inspect("it").waiters == 1; }));
    (void)server.execute({"DEL", "it"});  // as its SpinLock does
    waiting.join();
    EXPECT_EQ(acquired.state(), lock_state::held);
}

// "a" and "{a}" are two locks with one channel: a client that leaves must not end the other's
// subscription.
TEST_F(Redisson, TwoLocksOfOneChannelAreHeardUntilTheLastLeaves) {
    client locks = proxied_client(redisson_layout), observer = direct_client(redisson_layout);
    set_java_lock("a", 60000);
    set_java_lock("{a}", 60000);
    const auto heard = [&](std::size_t times) {
        return eventually([&] { return proxy.count(named("SUBSCRIBE")) == times; });
    };
    const auto subscriptions = [&] {
        return server.execute({"PUBSUB", "NUMSUB", "redisson_lock__channel:{a}"})
            .items.at(1)
            .number();
    };
    held_lock acquired;
    background_task waiting(
        [&] { acquired = locks.acquire("a", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(heard(1));
    const auto why =
        failure_of([&] { (void)locks.acquire("{a}", {.ttl = long_ttl, .wait = 300ms}); });
    ASSERT_TRUE(why.has_value());
    EXPECT_EQ(why->reason, errc::timed_out) << why;
    EXPECT_EQ(proxy.count(named("UNSUBSCRIBE")), 0U);
    EXPECT_EQ(subscriptions(), 1);
    release_java_lock("a");
    waiting.join();
    EXPECT_EQ(acquired.state(), lock_state::held);
    EXPECT_TRUE(eventually([&] { return subscriptions() == 0; }));
}

// The server refuses the subscription: one clear error, and the connection continues in order.
TEST_F(Redisson, ARefusedSubscriptionIsAnErrorAndNoMore) {
    (void)server.execute(
        {"ACL", "SETUSER", "locks", "on", ">secret", "~*", "resetchannels", "+@all"});
    const auto url = server.url(redisson_layout);
    client locks = client_at("redis://locks:secret@" + url.substr(url.find("//") + 2));
    set_java_lock("it", 60000);
    for (int i = 0; i < 3; ++i) {
        const auto why = failure_of([&] { (void)locks.acquire("it", {.wait = patience}); });
        ASSERT_TRUE(why.has_value());
        EXPECT_EQ(why->reason, errc::refused) << why;
        EXPECT_FALSE(locks.try_acquire("it").owns_lock());
        EXPECT_TRUE(locks.inspect("it").held_by.has_value());
    }
    EXPECT_EQ(locks.statistics().connections, 1U);
}

}  // namespace
