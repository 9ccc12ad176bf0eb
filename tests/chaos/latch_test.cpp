// Latches whose requests, answers, messages or server get lost.
#include "scene.hpp"

#include <pawl/blocking_latch.hpp>

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

#include <atomic>

namespace {

using namespace chaos;
using pawl::blocking::barrier;
using pawl::blocking::latch;
namespace scripts = pawl::redis::scripts;

constexpr fate losses[] = {fate::lose_reply, fate::cut_reply, fate::lose_request,
                           fate::repeat_request};

class Latches : public testing::Test, protected scene {
protected:
    // With scripts that the server knows and a connection that is up.
    static void warm(client& locks) {
        latch other(locks, "warm");
        (void)other.try_set(1);
        (void)other.count_down();
        (void)other.inspect();
    }
    std::int64_t listeners() {
        return server.ask({"PUBSUB", "NUMSUB", "pawl:{it}:l/0"}).items.at(1).number();
    }
    bool waited_for(std::int64_t clients) {
        return eventually([&] { return listeners() == clients; });
    }
    // The look of a waiter behind the proxy has been answered: what is asked later comes later.
    bool looked(latch& one) {
        const auto look = script(scripts::latch_look);
        const bool asked = eventually([&] { return proxy.count(look) > 0; });
        (void)one.inspect();
        return asked;
    }
};

//   C: down | server: 3 -> 2, C's answer is lost | C: the same request again | still 2, answer 2
TEST_F(Latches, AStepWhoseAnswerIsLostCountsOnce) {
    client eyes = direct();
    latch seen(eyes, "it");
    for (const fate how : losses) {
        client locks = proxied();
        warm(locks);
        latch mine(locks, "it");
        ASSERT_TRUE(seen.try_set(3));
        const auto before = proxy.struck();
        proxy.inject({.which = script(scripts::latch_down), .what = how});
        EXPECT_EQ(mine.count_down(), 2U);
        EXPECT_EQ(proxy.struck(), before + 1);
        EXPECT_EQ(seen.inspect().count, 2U);
        EXPECT_EQ(seen.count_down(2), 0U);
    }
}

//   C: down | server: 1 -> 0, all go on, C's answer is lost | S: set to 5 | C: the same again
//   | it was counted in the generation before: 5 stay, C hears of its 0
TEST_F(Latches, AStepThatIsSaidAgainDoesNotCountInTheNextGeneration) {
    client eyes = direct(), locks = proxied();
    latch seen(eyes, "it"), mine(locks, "it");
    warm(locks);
    ASSERT_TRUE(seen.try_set(1));
    proxy.inject({.which = script(scripts::latch_down), .what = fate::lose_reply});
    proxy.refuse(true);
    std::uint64_t left = 7;
    beside counting([&] { left = mine.count_down(); });
    ASSERT_TRUE(eventually([&] { return seen.inspect().count == 0; }));
    ASSERT_TRUE(seen.try_set(5));
    proxy.refuse(false);
    counting.join();
    EXPECT_EQ(left, 0U);
    EXPECT_EQ(seen.inspect().count, 5U);
}

//   A: arrives, waits | C: arrives as the last | server: next turn begun, C's answer is lost
//   | C: the same again | it is not the first of the next turn
TEST_F(Latches, AnArrivalWhoseAnswerIsLostCountsOnce) {
    client other = direct();
    barrier theirs(other, "it", 2);
    for (const fate how : losses) {
        client locks = proxied();
        warm(locks);
        barrier mine(locks, "it", 2);
        const auto turn = theirs.arrive();
        proxy.inject({.which = script(scripts::latch_down), .what = how});
        EXPECT_EQ(mine.arrive(), turn);
        EXPECT_TRUE(theirs.wait_for(turn, 0s));
        EXPECT_EQ(theirs.inspect().count, 2U);
    }
}

//   C: set | server: set, C's answer is lost | C: the same again | it is told that it has set it
TEST_F(Latches, ASettingWhoseAnswerIsLostIsStillTheCallers) {
    client eyes = direct();
    latch seen(eyes, "it");
    for (const fate how : losses) {
        client locks = proxied();
        warm(locks);
        proxy.inject({.which = script(scripts::latch_set), .what = how});
        EXPECT_TRUE(latch(locks, "it").try_set(2));
        EXPECT_EQ(seen.count_down(2), 0U);
    }
}

//   W: waits | W's connection is cut, and none can be made | C: 1 -> 0, set again, nobody hears it
//   | W connects, subscribes, looks | its generation is over
TEST_F(Latches, AWaiterWhoseConnectionIsCutGoesOn) {
    client locks = direct(), cut = proxied();
    latch mine(locks, "it"), theirs(cut, "it");
    ASSERT_TRUE(mine.try_set(1));
    for (int round = 0; round < 5; ++round) {
        std::atomic<bool> went_on = false;
        beside waiting([&] { went_on = theirs.wait_for(patience); });
        ASSERT_TRUE(waited_for(1));
        ASSERT_TRUE(looked(theirs));
        proxy.forget();
        proxy.refuse(true);
        proxy.kill_connections();
        ASSERT_TRUE(waited_for(0));
        EXPECT_EQ(mine.count_down(), 0U);
        ASSERT_TRUE(mine.try_set(1));
        proxy.refuse(false);
        ASSERT_TRUE(eventually([&] { return went_on || listeners() == 1; }));
        // Asked behind the waiter on the same connection: it has looked when these are answered.
        for (int i = 0; i < 2; ++i)
            (void)theirs.inspect();
        const auto looks = proxy.count(script(scripts::latch_look));
        waiting.join();
        EXPECT_TRUE(went_on);
        EXPECT_EQ(proxy.count(script(scripts::latch_look)), looks) << "it went on by a later look";
        ASSERT_TRUE(waited_for(0));
    }
}

// The message is lost and the connection stays: the waiter's own look finds it.
TEST_F(Latches, AWaiterWhoseMessageIsLostGoesOn) {
    client locks = direct(), deaf = proxied();
    latch mine(locks, "it"), theirs(deaf, "it");
    ASSERT_TRUE(mine.try_set(1));
    bool went_on = false;
    beside waiting([&] { went_on = theirs.wait_for(patience); });
    ASSERT_TRUE(looked(theirs));
    proxy.drop_pushes(true);
    EXPECT_EQ(mine.count_down(), 0U);
    waiting.join();
    EXPECT_TRUE(went_on);
}

//   W: waits | the server is killed and comes back without its data | W connects, looks: not known
TEST_F(Latches, AWaiterOfAServerThatForgotIsTold) {
    client locks = direct();
    latch mine(locks, "it");
    ASSERT_TRUE(mine.try_set(1));
    std::optional<failure> what;
    beside waiting([&] { what = failure_of([&] { mine.wait(); }); });
    ASSERT_TRUE(waited_for(1));
    server.kill9();
    server.start(false);
    waiting.join();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::lost) << what;
    EXPECT_NE(what->sentence.find("'it'"), std::string::npos) << what;
}

//   W: waits for turn 1 | the server forgets | others arrive: a turn of another life begins and
//   ends | W connects, looks: its turn is not one of this life | told, not let go
TEST_F(Latches, AWaiterIsNotLetGoByAnotherLife) {
    client locks = direct(), cut = proxied();
    barrier mine(locks, "it", 2), theirs(cut, "it", 2);
    latch seen(cut, "it");
    const auto turn = theirs.arrive();
    std::optional<failure> what;
    beside waiting([&] { what = failure_of([&] { theirs.wait(turn); }); });
    ASSERT_TRUE(looked(seen));
    proxy.refuse(true);
    proxy.kill_connections();
    ASSERT_TRUE(waited_for(0));
    (void)server.ask({"FLUSHALL"});
    EXPECT_EQ(mine.arrive(), mine.arrive());
    proxy.refuse(false);
    waiting.join();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::lost) << what;
}

TEST_F(Latches, AServerThatIsGoneIsAnErrorAndNoEndlessWait) {
    client locks = direct("?connect_timeout_ms=1000&reply_timeout_ms=1000");
    latch mine(locks, "it");
    ASSERT_TRUE(mine.try_set(1));
    std::optional<failure> what;
    beside waiting([&] { what = failure_of([&] { (void)mine.wait_for(3s); }); });
    ASSERT_TRUE(waited_for(1));
    server.kill9();
    const auto counting = failure_of([&] { mine.count_down(); });
    ASSERT_TRUE(counting.has_value());
    EXPECT_EQ(counting->reason, errc::unreachable) << counting;
    waiting.join();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
}

// A service that is away for the whole reply window: nobody claims to know.
TEST_F(Latches, AStepWithoutAnyAnswerSaysSo) {
    client locks = proxied("?connect_timeout_ms=500&reply_timeout_ms=500");
    warm(locks);
    latch mine(locks, "it");
    ASSERT_TRUE(mine.try_set(2));
    proxy.inject({.which = script(scripts::latch_down), .what = fate::lose_reply, .times = 1000});
    const auto what = failure_of([&] { mine.count_down(); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
    EXPECT_NE(what->sentence.find("Nobody knows"), std::string::npos) << what;
    client eyes = direct();
    EXPECT_EQ(latch(eyes, "it").inspect().count, 1U) << "counted more than once";
}

TEST_F(Latches, AKeyOfAnotherTypeIsATypedError) {
    (void)server.ask({"SET", "pawl:{it}:l", "x"});
    client locks = direct();
    latch mine(locks, "it");
    barrier all(locks, "it", 2);
    const auto refused = [&](const std::function<void()>& call) {
        const auto what = failure_of(call);
        EXPECT_TRUE(what && what->reason == errc::wrong_type) << what;
    };
    refused([&] { mine.try_set(1); });
    refused([&] { mine.count_down(); });
    refused([&] { mine.wait(); });
    refused([&] { (void)mine.inspect(); });
    refused([&] { mine.reset(); });
    refused([&] { (void)all.arrive(); });
}

// Nothing of a latch stays for ever: it, and what remembers its requests, have an end.
TEST_F(Latches, EveryKeyHasAnEnd) {
    client locks = direct();
    latch mine(locks, "it");
    const auto all_end = [&](std::size_t count) {
        const auto keys = server.keys();
        EXPECT_EQ(keys.size(), count);
        for (const auto& key : keys)
            EXPECT_GT(server.ask({"PTTL", key}).number(), 0) << key;
    };
    ASSERT_TRUE(mine.try_set(2));
    all_end(2);
    EXPECT_EQ(mine.count_down(), 1U);
    all_end(3);
    EXPECT_TRUE(mine.reset());
}

// Redisson's wire has no room for a request's id: an answer that is lost stays lost, and is not
// guessed.
TEST_F(Latches, AStepInRedissonsLayoutIsSentOnce) {
    client locks = proxied("?layout=redisson"), eyes = direct("?layout=redisson");
    latch mine(locks, "it"), seen(eyes, "it");
    ASSERT_TRUE(mine.try_set(5));
    EXPECT_EQ(mine.count_down(), 4U);
    proxy.inject(
        {.which = script(pawl::redis::redisson::scripts::latch_down), .what = fate::lose_reply});
    const auto what = failure_of([&] { mine.count_down(); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
    EXPECT_EQ(seen.inspect().count, 3U);
    const auto turns = failure_of([&] { (void)barrier(locks, "it", 2).arrive(); });
    EXPECT_EQ(turns ? turns->reason : errc::lost, errc::unsupported) << turns;
    (void)server.ask({"HSET", "hash", "f", "v"});
    const auto wrong = failure_of([&] { latch(locks, "hash").wait(); });
    EXPECT_EQ(wrong ? wrong->reason : errc::lost, errc::wrong_type) << wrong;
}

}  // namespace
