// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Latches whose requests, replies, messages or server get lost.
#include "redis_fixture.hpp"

#include <pawl/blocking/latch.hpp>

#include <redis_scripts.hpp>
#include <redisson_scripts.hpp>

#include <atomic>

namespace {

using namespace chaos;
using pawl::blocking::barrier;
using pawl::blocking::latch;
namespace scripts = pawl::redis::scripts;

constexpr fault_kind losses[] = {fault_kind::lose_reply, fault_kind::cut_reply,
                                 fault_kind::lose_request, fault_kind::repeat_request};

class Latches : public testing::Test, protected redis_fixture {
protected:
    // With loaded scripts and an open connection.
    static void warm(client& locks) {
        latch other(locks, "warm");
        (void)other.try_set(1);
        (void)other.count_down();
        (void)other.inspect();
    }
    std::int64_t listeners() {
        return server.execute({"PUBSUB", "NUMSUB", "pawl:{it}:l/0"}).items.at(1).number();
    }
    bool has_listeners(std::int64_t clients) {
        return eventually([&] { return listeners() == clients; });
    }
    // The refresh of a waiter behind the proxy has been answered, so that later requests come
    // later.
    bool has_refreshed(latch& watched) {
        const auto refresh = script(scripts::latch_inspect);
        const bool was_counted = eventually([&] { return proxy.count(refresh) > 0; });
        (void)watched.inspect();
        return was_counted;
    }
};

//   C: down | server: 3 -> 2, C's reply is lost | C: the same request again | still 2, reply 2
TEST_F(Latches, AStepWhoseAnswerIsLostCountsOnce) {
    client observer = direct_client();
    latch observed_latch(observer, "it");
    for (const fault_kind kind : losses) {
        client locks = proxied_client();
        warm(locks);
        latch own_latch(locks, "it");
        ASSERT_TRUE(observed_latch.try_set(3));
        const auto before = proxy.strike_count();
        proxy.inject({.matches = script(scripts::latch_down), .kind = kind});
        EXPECT_EQ(own_latch.count_down(), 2U);
        EXPECT_EQ(proxy.strike_count(), before + 1);
        EXPECT_EQ(observed_latch.inspect().count, 2U);
        EXPECT_EQ(observed_latch.count_down(2), 0U);
    }
}

//   C: down | server: 1 -> 0, all waiters are released, C's reply is lost | S: set to 5 | C: the
//   same request again | it was counted in the generation before: 5 remain, C is told of its 0
TEST_F(Latches, AStepThatIsSaidAgainDoesNotCountInTheNextGeneration) {
    client observer = direct_client(), locks = proxied_client();
    latch observed_latch(observer, "it"), own_latch(locks, "it");
    warm(locks);
    ASSERT_TRUE(observed_latch.try_set(1));
    proxy.inject({.matches = script(scripts::latch_down), .kind = fault_kind::lose_reply});
    proxy.refuse(true);
    std::uint64_t left = 7;
    background_task counting([&] { left = own_latch.count_down(); });
    ASSERT_TRUE(eventually([&] { return observed_latch.inspect().count == 0; }));
    ASSERT_TRUE(observed_latch.try_set(5));
    proxy.refuse(false);
    counting.join();
    EXPECT_EQ(left, 0U);
    EXPECT_EQ(observed_latch.inspect().count, 5U);
}

//   A: arrives, waits | C: arrives as the last | server: next phase begun, C's reply is lost | C:
//   the same request again | it is not the first arrival of the next phase
TEST_F(Latches, AnArrivalWhoseAnswerIsLostCountsOnce) {
    client other = direct_client();
    barrier theirs(other, "it", 2);
    for (const fault_kind kind : losses) {
        client locks = proxied_client();
        warm(locks);
        barrier own_barrier(locks, "it", 2);
        const auto arrival = theirs.arrive();
        proxy.inject({.matches = script(scripts::latch_down), .kind = kind});
        EXPECT_EQ(own_barrier.arrive(), arrival);
        EXPECT_TRUE(theirs.wait_for(arrival, 0s));
        EXPECT_EQ(theirs.inspect().count, 2U);
    }
}

//   C: set | server: set, C's reply is lost | C: the same request again | C is told that it has set
//   the latch
TEST_F(Latches, ASettingWhoseAnswerIsLostIsStillTheCallers) {
    client observer = direct_client();
    latch observed_latch(observer, "it");
    for (const fault_kind kind : losses) {
        client locks = proxied_client();
        warm(locks);
        proxy.inject({.matches = script(scripts::latch_set), .kind = kind});
        EXPECT_TRUE(latch(locks, "it").try_set(2));
        EXPECT_EQ(observed_latch.count_down(2), 0U);
    }
}

//   W: waits | W's connection is cut, and none can be made | C: 1 -> 0, set again, the messages
//   reach no client | W connects, subscribes, refreshes | its generation is over
TEST_F(Latches, AWaiterWhoseConnectionIsCutGoesOn) {
    client locks = direct_client(), cut = proxied_client();
    latch own_latch(locks, "it"), other_latch(cut, "it");
    ASSERT_TRUE(own_latch.try_set(1));
    for (int round = 0; round < 5; ++round) {
        std::atomic<bool> went_on = false;
        background_task waiting([&] { went_on = other_latch.wait_for(patience); });
        ASSERT_TRUE(has_listeners(1));
        ASSERT_TRUE(has_refreshed(other_latch));
        proxy.forget_commands();
        proxy.refuse(true);
        proxy.kill_connections();
        ASSERT_TRUE(has_listeners(0));
        EXPECT_EQ(own_latch.count_down(), 0U);
        ASSERT_TRUE(own_latch.try_set(1));
        proxy.refuse(false);
        ASSERT_TRUE(eventually([&] { return went_on || listeners() == 1; }));
        // Sent behind the waiter on the same connection: it has refreshed when these are answered.
        for (int i = 0; i < 2; ++i)
            (void)other_latch.inspect();
        const auto refreshes = proxy.count(script(scripts::latch_inspect));
        waiting.join();
        EXPECT_TRUE(went_on);
        EXPECT_EQ(proxy.count(script(scripts::latch_inspect)), refreshes)
            << "a later refresh released it";
        ASSERT_TRUE(has_listeners(0));
    }
}

// The message is lost and the connection stays: the waiter's own refresh sees the change.
TEST_F(Latches, AWaiterWhoseMessageIsLostGoesOn) {
    client locks = direct_client(), deaf = proxied_client();
    latch own_latch(locks, "it"), other_latch(deaf, "it");
    ASSERT_TRUE(own_latch.try_set(1));
    bool went_on = false;
    background_task waiting([&] { went_on = other_latch.wait_for(patience); });
    ASSERT_TRUE(has_refreshed(other_latch));
    proxy.drop_pushes(true);
    EXPECT_EQ(own_latch.count_down(), 0U);
    waiting.join();
    EXPECT_TRUE(went_on);
}

//   W: waits | the server is killed and comes back without its data | W connects, refreshes:
//   unknown
TEST_F(Latches, AWaiterOfAServerThatForgotIsTold) {
    client locks = direct_client();
    latch own_latch(locks, "it");
    ASSERT_TRUE(own_latch.try_set(1));
    std::optional<failure> failed;
    background_task waiting([&] { failed = failure_of([&] { own_latch.wait(); }); });
    ASSERT_TRUE(has_listeners(1));
    server.kill9();
    server.start(false);
    waiting.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::lost) << failed;
    EXPECT_NE(failed->sentence.find("'it'"), std::string::npos) << failed;
}

//   W: waits for phase 1 | the server forgets | others arrive: a phase of another life begins and
//   ends | W connects, refreshes: its phase is not one of this life | W gets an error and is not
//   released
TEST_F(Latches, AWaiterIsNotLetGoByAnotherLife) {
    client locks = direct_client(), cut = proxied_client();
    barrier own_barrier(locks, "it", 2), other_barrier(cut, "it", 2);
    latch observed_latch(cut, "it");
    const auto arrival = other_barrier.arrive();
    std::optional<failure> failed;
    background_task waiting([&] { failed = failure_of([&] { other_barrier.wait(arrival); }); });
    ASSERT_TRUE(has_refreshed(observed_latch));
    proxy.refuse(true);
    proxy.kill_connections();
    ASSERT_TRUE(has_listeners(0));
    (void)server.execute({"FLUSHALL"});
    EXPECT_EQ(own_barrier.arrive(), own_barrier.arrive());
    proxy.refuse(false);
    waiting.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::lost) << failed;
}

TEST_F(Latches, AServerThatIsGoneIsAnErrorAndNoEndlessWait) {
    client locks = direct_client("?connect_timeout=1000&reply_timeout=1000");
    latch own_latch(locks, "it");
    ASSERT_TRUE(own_latch.try_set(1));
    std::optional<failure> failed;
    background_task waiting([&] { failed = failure_of([&] { (void)own_latch.wait_for(3s); }); });
    ASSERT_TRUE(has_listeners(1));
    server.kill9();
    const auto counting = failure_of([&] { own_latch.count_down(); });
    ASSERT_TRUE(counting.has_value());
    EXPECT_EQ(counting->reason, errc::unreachable) << counting;
    waiting.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
}

// A server that is away for the whole reply window: the result is reported as unknown.
TEST_F(Latches, AStepWithoutAnyAnswerSaysSo) {
    client locks = proxied_client("?connect_timeout=500&reply_timeout=500");
    warm(locks);
    latch own_latch(locks, "it");
    ASSERT_TRUE(own_latch.try_set(2));
    proxy.inject(
        {.matches = script(scripts::latch_down), .kind = fault_kind::lose_reply, .times = 1000});
    const auto failed = failure_of([&] { own_latch.count_down(); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_NE(failed->sentence.find("Nobody knows"), std::string::npos) << failed;
    client observer = direct_client();
    EXPECT_EQ(latch(observer, "it").inspect().count, 1U) << "counted more than once";
}

TEST_F(Latches, AKeyOfAnotherTypeIsATypedError) {
    (void)server.execute({"SET", "pawl:{it}:l", "x"});
    client locks = direct_client();
    latch own_latch(locks, "it");
    barrier all(locks, "it", 2);
    const auto refused = [&](const std::function<void()>& call) {
        const auto failed = failure_of(call);
        EXPECT_TRUE(failed && failed->reason == errc::wrong_type) << failed;
    };
    refused([&] { own_latch.try_set(1); });
    refused([&] { own_latch.count_down(); });
    refused([&] { own_latch.wait(); });
    refused([&] { (void)own_latch.inspect(); });
    refused([&] { own_latch.reset(); });
    refused([&] { (void)all.arrive(); });
}

// Nothing of a latch stays for ever: the latch and the record of its requests expire.
TEST_F(Latches, EveryKeyHasAnEnd) {
    client locks = direct_client();
    latch own_latch(locks, "it");
    const auto all_end = [&](std::size_t count) {
        const auto keys = server.keys();
        EXPECT_EQ(keys.size(), count);
        for (const auto& key : keys)
            EXPECT_GT(server.execute({"PTTL", key}).number(), 0) << key;
    };
    ASSERT_TRUE(own_latch.try_set(2));
    all_end(2);
    EXPECT_EQ(own_latch.count_down(), 1U);
    all_end(3);
    EXPECT_TRUE(own_latch.reset());
}

// Redisson's layout has no room for a request id: a lost reply stays lost, and the client does not
// guess.
TEST_F(Latches, AStepInRedissonsLayoutIsSentOnce) {
    client locks = proxied_client("?layout=redisson"), observer = direct_client("?layout=redisson");
    latch own_latch(locks, "it"), observed_latch(observer, "it");
    ASSERT_TRUE(own_latch.try_set(5));
    EXPECT_EQ(own_latch.count_down(), 4U);
    proxy.inject({.matches = script(pawl::redis::redisson::scripts::latch_down),
                  .kind = fault_kind::lose_reply});
    const auto failed = failure_of([&] { own_latch.count_down(); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_EQ(observed_latch.inspect().count, 3U);
    const auto arrivals = failure_of([&] { (void)barrier(locks, "it", 2).arrive(); });
    EXPECT_EQ(arrivals ? arrivals->reason : errc::lost, errc::unsupported) << arrivals;
    (void)server.execute({"HSET", "hash", "f", "v"});
    const auto wrong = failure_of([&] { latch(locks, "hash").wait(); });
    EXPECT_EQ(wrong ? wrong->reason : errc::lost, errc::wrong_type) << wrong;
}

}  // namespace
