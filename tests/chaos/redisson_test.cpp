// Redisson's layout on a server and a network that misbehave. tests/interop has the real Redisson.
#include "scene.hpp"

#include <redisson_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::redisson::scripts;

const std::string layout = "?layout=redisson";
const std::string theirs = "176d4c5e-cbab-4c45-831e-b8c949d7ba8c:1";

class Redisson : public testing::Test, protected scene {
protected:
    // With scripts that the server knows and a connection that is up.
    void warm(client& locks) {
        for (int i = 0; i < 2; ++i)
            (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
        for (const auto* once : {&scripts::renew, &scripts::inspect})
            (void)server.ask({"SCRIPT", "LOAD", std::string(once->text)});
    }
    bool is_free(const std::string& name) {
        return eventually([&] { return server.ask({"EXISTS", name}).number() == 0; });
    }
    // Java's part, as its scripts leave it behind.
    void java_takes(const std::string& name, int ms) {
        (void)server.ask({"HINCRBY", name, theirs, "1"});
        (void)server.ask({"PEXPIRE", name, std::to_string(ms)});
    }
    void java_releases(const std::string& name) {
        (void)server.ask({"DEL", name});
        (void)server.ask({"PUBLISH", "redisson_lock__channel:{" + name + "}", "0"});
    }
};

TEST_F(Redisson, KeysAreThoseOfTheJavaSide) {
    client locks = direct(layout);
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    const auto hash = server.ask({"HGETALL", "it"});
    ASSERT_EQ(hash.items.size(), 2U);
    EXPECT_EQ(hash.items[1].text, "1");
    const auto& owner = hash.items[0].text;
    ASSERT_GT(owner.size(), 37U);
    for (const auto at : {8u, 13u, 18u, 23u})
        EXPECT_EQ(owner[at], '-') << owner;
    EXPECT_EQ(owner[14], '4') << owner;
    EXPECT_EQ(owner[36], ':') << owner;
    EXPECT_EQ(owner.find_first_not_of("0123456789", 37), std::string::npos) << owner;
    EXPECT_EQ(server.ask({"GET", "redisson_lock_token:{it}"}).text, to_string(lock.token()));
    EXPECT_GT(server.ask({"PTTL", "it"}).number(), 50000);

    const auto ear = server.connect();
    (void)ear->ask({"SUBSCRIBE", "redisson_lock__channel:{it}"});
    EXPECT_EQ(lock.release(), release_result::released);
    const auto heard = ear->receive(10s);
    ASSERT_TRUE(heard && heard->items.size() == 3);
    EXPECT_EQ(heard->items[2].text, "0");
    EXPECT_TRUE(eventually([&] {
        return server.keys() == std::vector<std::string>{"redisson_lock_token:{it}"};
    })) << "the latch stays behind";
    // Without a token, and with a template for a NameMapper; a brace leaves the name as it is.
    client mapped = direct(layout + "&key=app:{name}");
    auto other = mapped.acquire("x{y}", {.ttl = long_ttl, .fenced = false});
    EXPECT_EQ(server.ask({"EXISTS", "app:x{y}"}).number(), 1);
    EXPECT_EQ(server.ask({"EXISTS", "redisson_lock_token:app:x{y}"}).number(), 0);
}

// Each side meets what the other layout left under the same key, and says which option to set.
TEST_F(Redisson, KeysOfAnotherTypeAreRefusedWithAnAdvice) {
    client shared = direct(layout), plain = direct("?key={name}");
    java_takes("hash", 60000);
    (void)server.ask({"SET", "string", "theirs", "PX", "60000"});
    (void)server.ask({"HSET", "cart", "item", "7"});
    const auto says = [&](const auto& call, const std::string& word) {
        const auto what = failure_of(call);
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::wrong_type) << what;
        EXPECT_NE(what->sentence.find(word), std::string::npos) << what;
    };
    says(
        [&] { (void)plain.try_acquire("hash"); },
        "hash holds a hash, where Pawl keeps the lock; for a lock of Redisson set layout=redisson");
    says([&] { (void)plain.acquire("hash", {.wait = patience}); }, "set layout=redisson");
    for (const std::string name : {"string", "cart"}) {
        says([&] { (void)shared.try_acquire(name); }, "leave out layout=redisson");
        says([&] { (void)shared.acquire(name, {.wait = patience}); }, "leave out layout=redisson");
        says([&] { (void)shared.inspect(name); }, "leave out layout=redisson");
        says([&] { (void)shared.force_release(name); }, "leave out layout=redisson");
        EXPECT_EQ(server.ask({"EXISTS", name}).number(), 1) << "something of another was deleted";
    }
    ASSERT_EQ(shared.list().size(), 1U);
    EXPECT_EQ(shared.list()[0].name, "hash");
    EXPECT_EQ(shared.list()[0].held_by->owner, "176d4c5e:1");
}

// Each permit is an entry, and a script that makes millions of them stops the server for all.
TEST_F(Redisson, MorePermitsAtOnceThanAServerLikesAreRefused) {
    client locks = direct(layout);
    const auto many = [&](std::uint32_t permits) {
        return locks.try_acquire(
            "it", {.mode = pawl::lock_mode::permits, .permits = permits, .of = 1'000'000});
    };
    const auto what = failure_of([&] { (void)many(10'001); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::bad_option) << what;
    EXPECT_EQ(server.ask({"EXISTS", "it"}).number(), 0);
    EXPECT_TRUE(many(10'000).owns_lock());
}

//   acquire -> carried out -> reply lost | asked again as another owner: held, by our own ghost |
//   the ghost is given back | its message wakes us
TEST_F(Redisson, ALostAcquireIsUndone) {
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        client locks = proxied(layout);
        warm(locks);
        proxy.inject({.which = script(scripts::acquire), .what = how});
        const auto what = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::unreachable) << what;
        EXPECT_TRUE(is_free("it"));
        proxy.inject({.which = script(scripts::acquire), .what = how});
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(is_free("it"));
    }
}

//   acquire sent | cancelled or out of time | granted: given back on the same connection
TEST_F(Redisson, ALateGrantIsGivenBack) {
    client locks = proxied(layout);
    warm(locks);
    proxy.inject({.which = script(scripts::acquire), .what = fate::delay_request, .by = 1s});
    const auto late =
        failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = 100ms}); });
    ASSERT_TRUE(late.has_value());
    EXPECT_TRUE(eventually([&] { return proxy.count(script(scripts::release)) >= 3; }));
    EXPECT_TRUE(is_free("it"));
    proxy.inject({.which = script(scripts::acquire), .what = fate::delay_request, .by = 1s});
    std::stop_source stop;
    beside stopping([&] {
        if (eventually([&] { return proxy.count(support::with_word("it")) > 0; }))
            stop.request_stop();
    });
    const auto cancelled = failure_of(
        [&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token()); });
    ASSERT_TRUE(cancelled.has_value());
    EXPECT_EQ(cancelled->reason, errc::cancelled) << cancelled;
    EXPECT_TRUE(eventually([&] { return proxy.count(script(scripts::release)) >= 4; }));
    EXPECT_TRUE(is_free("it"));
}

//   release -> carried out, latch 1 -> reply lost | said again | the latch answers, although
//   another has the lock by now, and keeps it
TEST_F(Redisson, ALostReleaseIsAnsweredByItsLatch) {
    for (const fate how : {fate::lose_reply, fate::cut_reply}) {
        client locks = proxied(layout), other = direct(layout);
        warm(locks);
        auto lock = locks.acquire("it", {.ttl = long_ttl});
        held_lock next;
        beside waiting([&] { next = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
        client eyes = direct(layout);
        ASSERT_TRUE(eventually([&] { return eyes.inspect("it").waiters == 1; }));
        proxy.inject({.which = script(scripts::release), .what = how});
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_EQ(next.state(), lock_state::held);
        EXPECT_FALSE(locks.try_acquire("it").owns_lock());
        EXPECT_EQ(next.release(), release_result::released);
    }
}

//   J holds | P listens | P's connection dies | J releases: the message reaches nobody | P
//   connects, subscribes, looks at once
TEST_F(Redisson, AMessageThatNobodyHeardIsMadeUpForByALook) {
    client locks = proxied(layout), eyes = direct(layout);
    warm(locks);
    java_takes("it", 60000);
    held_lock got;
    beside waiting([&] { got = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return eyes.inspect("it").waiters == 1; }));
    proxy.refuse(true);
    proxy.kill_connections();
    ASSERT_TRUE(eventually([&] { return eyes.inspect("it").waiters == 0; }));
    java_releases("it");
    proxy.refuse(false);
    waiting.join();
    EXPECT_EQ(got.state(), lock_state::held);
    EXPECT_TRUE(eventually([&] { return eyes.inspect("it").waiters == 0; }));
}

//   J holds | P waits | the message is lost, the connection is not | P's look finds it free
TEST_F(Redisson, ALostMessageIsMadeUpForByALook) {
    client locks = proxied(layout), eyes = direct(layout);
    java_takes("it", 60000);
    held_lock got;
    beside waiting([&] { got = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return eyes.inspect("it").waiters == 1; }));
    (void)server.ask({"DEL", "it"});  // as its SpinLock does
    waiting.join();
    EXPECT_EQ(got.state(), lock_state::held);
}

// "a" and "{a}" are two locks with one channel: who leaves must not take the other's ear along.
TEST_F(Redisson, TwoLocksOfOneChannelAreHeardUntilTheLastLeaves) {
    client locks = proxied(layout), eyes = direct(layout);
    java_takes("a", 60000);
    java_takes("{a}", 60000);
    const auto heard = [&](std::size_t times) {
        return eventually([&] { return proxy.count(named("SUBSCRIBE")) == times; });
    };
    const auto subscriptions = [&] {
        return server.ask({"PUBSUB", "NUMSUB", "redisson_lock__channel:{a}"}).items.at(1).number();
    };
    held_lock got;
    beside waiting([&] { got = locks.acquire("a", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(heard(1));
    const auto why =
        failure_of([&] { (void)locks.acquire("{a}", {.ttl = long_ttl, .wait = 300ms}); });
    ASSERT_TRUE(why.has_value());
    EXPECT_EQ(why->reason, errc::timed_out) << why;
    EXPECT_EQ(proxy.count(named("UNSUBSCRIBE")), 0U);
    EXPECT_EQ(subscriptions(), 1);
    java_releases("a");
    waiting.join();
    EXPECT_EQ(got.state(), lock_state::held);
    EXPECT_TRUE(eventually([&] { return subscriptions() == 0; }));
}

// The server refuses the subscription: one clear error, and the connection goes on in its order.
TEST_F(Redisson, ARefusedSubscriptionIsAnErrorAndNoMore) {
    (void)server.ask({"ACL", "SETUSER", "locks", "on", ">secret", "~*", "resetchannels", "+@all"});
    const auto url = server.url(layout);
    client locks = at("redis://locks:secret@" + url.substr(url.find("//") + 2));
    java_takes("it", 60000);
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
