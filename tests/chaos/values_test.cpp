// Values that the caller chose: an undoing knows the hold by nothing else.
#include "scene.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Values : public testing::Test, protected scene {
protected:
    Values() {
        // With a script that the server knows and a connection that is up.
        for (int i = 0; i < 2; ++i)
            (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    }
    std::optional<failure> failure_of_try(const std::string& value) {
        return failure_of([&] { (void)locks.try_acquire_as("it", value, {.ttl = long_ttl}); });
    }
    std::string there() { return server.ask({"GET", "it"}).text; }

    client locks = proxied("?key={name}");
};

TEST_F(Values, AreTheWholeOfTheKey) {
    auto lock = locks.acquire_as("it", "ticket;1", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(there(), "ticket;1");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(clean());
}

// Whoever is told the value can extend and delete by plain commands; our renewals go on with it.
TEST_F(Values, AreExtendedByWhoeverKnowsThem) {
    auto lock = locks.acquire_as("it", "ticket", {.ttl = 3s, .wait = patience});
    (void)server.ask({"PEXPIRE", "it", "60000"});
    EXPECT_EQ(lock.state(), lock_state::held);
    (void)server.ask({"DEL", "it"});
    EXPECT_EQ(lock.release(), release_result::expired);
    ASSERT_EQ(server.ask({"SET", "it", "theirs", "PX", "1000"}).text, "OK");
    auto mine = locks.adopt("it", "theirs", {.ttl = long_ttl});
    EXPECT_GT(server.ask({"PTTL", "it"}).number(), 50'000);
    EXPECT_GT(mine.token(), lock.token());
    EXPECT_EQ(mine.release(), release_result::released);
}

// A lock of a library that gave it no end: it has one from then on.
TEST_F(Values, AdoptedGetAnEnd) {
    ASSERT_EQ(server.ask({"SET", "it", "theirs"}).text, "OK");
    auto mine = locks.adopt("it", "theirs", {.ttl = long_ttl});
    ASSERT_TRUE(mine);
    EXPECT_GT(server.ask({"PTTL", "it"}).number(), 0);
}

// acquire -> carried out -> reply lost: what may have been given is given back.
TEST_F(Values, OfATryWhoseAnswerIsLostAreUndone) {
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        proxy.inject({.which = script(scripts::acquire), .what = how});
        const auto what = failure_of_try("ticket " + std::to_string(static_cast<int>(how)));
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::unreachable) << what;
        EXPECT_TRUE(clean());
    }
}

// Ours was never carried out, and somebody else's value begins with ours: theirs stays.
TEST_F(Values, AreComparedWholeWhenUndone) {
    for (const std::string theirs : {"ticket;1", "ticket 1", "ticke", "TICKET"}) {
        proxy.inject({.which = script(scripts::acquire), .what = fate::lose_request});
        ASSERT_EQ(server.ask({"SET", "it", theirs, "PX", "60000"}).text, "OK");
        const auto before = proxy.count(script(scripts::release));
        ASSERT_TRUE(failure_of_try("ticket").has_value());
        ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::release)) > before; }));
        // Said again on this connection, after the undoing.
        ASSERT_TRUE(eventually([&] {
            const auto what = failure_of_try("ticket");
            return !what.has_value();
        }));
        EXPECT_EQ(there(), theirs);
        (void)server.ask({"DEL", "it"});
    }
}

// While an earlier try under the value is being undone, a new hold under it would be ended by that.
TEST_F(Values, AreRefusedWhileTheyAreUndone) {
    proxy.inject({.which = script(scripts::acquire), .what = fate::lose_reply});
    proxy.inject({.which = script(scripts::release), .what = fate::swallow});
    ASSERT_TRUE(failure_of_try("ticket").has_value());
    const auto what = failure_of_try("ticket");
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unavailable) << what;
    EXPECT_NE(what->sentence.find("another value"), std::string::npos) << what;
    proxy.forget();
}

//   A waits: asks under its value | the request, or its answer, is lost | A's undoing of it comes,
//   maybe three times | A asks again under the same value, and holds: no undoing comes after that
TEST_F(Values, OfAWaitAreAskedForAgainWhenTheyAreUndone) {
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        proxy.inject({.which = script(scripts::acquire), .what = how});
        auto lock = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience});
        const auto undone = proxy.count(script(scripts::release));
        EXPECT_GE(undone, 1);
        EXPECT_EQ(there(), "ticket");
        lock.renew();
        EXPECT_EQ(proxy.count(script(scripts::release)), undone);
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(clean());
        proxy.forget();
    }
}

// The server dies while it is asked, and comes back without its data.
TEST_F(Values, OfAWaitOutlastTheServer) {
    const auto before = proxy.struck();
    proxy.inject({.which = script(scripts::acquire), .what = fate::swallow});
    held_lock got;
    beside waiting(
        [&] { got = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return proxy.struck() == before + 1; }));
    server.kill9();
    proxy.kill_connections();
    server.start(false);
    waiting.join();
    EXPECT_EQ(got.state(), lock_state::held);
    EXPECT_EQ(there(), "ticket");
}

// It is there, and has no memory for anything new.
TEST_F(Values, OfAWaitOutlastARefusal) {
    ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "1"}).text, "OK");
    const auto what = failure_of(
        [&] { (void)locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = 300ms}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unavailable) << what;
    const auto refused = [&] { return proxy.count(script(scripts::acquire)); };
    const auto before = refused();
    held_lock got;
    beside waiting(
        [&] { got = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience}); });
    EXPECT_TRUE(eventually([&] { return refused() >= before + 2; }));
    ASSERT_EQ(server.ask({"CONFIG", "SET", "maxmemory", "0"}).text, "OK");
    waiting.join();
    EXPECT_EQ(got.state(), lock_state::held);
    EXPECT_EQ(got.release(), release_result::released);
}

// adopt -> carried out -> reply lost: asked once more, it finds the same hold.
TEST_F(Values, AdoptingWithoutAnAnswerLeavesTheHoldAlone) {
    ASSERT_EQ(server.ask({"SET", "it", "theirs", "PX", "60000"}).text, "OK");
    proxy.inject({.which = script(scripts::adopt), .what = fate::lose_reply});
    const auto what = failure_of([&] { (void)locks.adopt("it", "theirs", {.ttl = long_ttl}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
    EXPECT_EQ(there(), "theirs");
    EXPECT_TRUE(locks.adopt("it", "theirs", {.ttl = long_ttl}).owns_lock());
}

TEST_F(Values, AreNotLookedForUnderAKeyOfAnotherType) {
    (void)server.ask({"HSET", "it", "field", "1"});
    const auto what = failure_of([&] { (void)locks.adopt("it", "theirs"); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::wrong_type) << what;
}

}  // namespace
