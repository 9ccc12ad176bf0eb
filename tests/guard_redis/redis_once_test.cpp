// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_fixture.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/redis_once.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <thread>

namespace {

using namespace guard_tests;
using namespace pawl::guard;
using namespace std::chrono_literals;
using pawl::errc;

class RedisOnce : public redis_test {
protected:
    // Adds its argument to the counter, and returns the new value.
    redis_effect add{"return redis.call('INCRBY', KEYS[1], ARGV[1])", 1};
    int works = 0;

    redis_once_work adding(std::int64_t amount) {
        return [this, amount](const attempt&) {
            ++works;
            return add({"n"}, {amount});
        };
    }
    once_result run(const once_key& key, std::int64_t amount = 1,
                    const once_options& options = patient) {
        return once(connection, key, options, adding(amount));
    }
    void end_lease(const std::string& record = "pawl-once::{all}:k") {
        (void)server.execute({"HSET", record, "lease_until", "1"});
    }
    std::string field(const std::string& name) {
        return server.execute({"HGET", "pawl-once::{all}:k", name}).text;
    }
};

TEST_F(RedisOnce, HasOneEffectAndReplaysItsResult) {
    const auto first = run("k", 5);
    EXPECT_EQ(first.state, once_state::done);
    EXPECT_EQ(first.value, "5");
    const auto second = run("k", 5);
    EXPECT_EQ(second.state, once_state::replayed);
    EXPECT_EQ(second.value, "5");
    EXPECT_EQ(stored("n"), "5");
    EXPECT_EQ(works, 1);
}

TEST_F(RedisOnce, NeedsThreeCommandsAtFirstAndOneForAReplay) {
    (void)run("warm");
    connection.sent.clear();
    (void)run("k");
    EXPECT_EQ(connection.sent.size(), 3U) << "look, claim, effect with the end";
    connection.sent.clear();
    (void)run("k");
    EXPECT_EQ(connection.sent.size(), 1U);
}

TEST_F(RedisOnce, TellsAnotherRequestUnderTheSameKey) {
    const once_key first("k", "one item"), other("k", "two items");
    (void)run(first);
    EXPECT_EQ(run(other).state, once_state::mismatch);
    const auto pending = claim(connection, {"p", "one item"}, patient);
    ASSERT_TRUE(pending);
    EXPECT_EQ(run({"p", "two items"}).state, once_state::mismatch) << "also while it runs";
    EXPECT_EQ(stored("n"), "1");
}

TEST_F(RedisOnce, KeepsKeysAndScopesApart) {
    const std::string bytes("a\0\r\n{}:", 7);
    for (const once_key& key : {once_key("k"), once_key("K"), once_key("k "), once_key(bytes),
                                once_key("k", "", "s"), once_key("k", "", "all")})
        EXPECT_EQ(run(key).state, once_state::done);
    EXPECT_EQ(stored("n"), "6");
}

TEST_F(RedisOnce, KeepsARejection) {
    const redis_once_work reject = [](const attempt&) { return rejected{"sold out"}; };
    for (int i = 0; i < 2; ++i) {
        const auto result = once(connection, "k", patient, reject);
        EXPECT_EQ(result.state, once_state::failed);
        EXPECT_EQ(result.value, "sold out");
    }
    EXPECT_EQ(run("k").state, once_state::failed);
}

TEST_F(RedisOnce, StoresNothingIfTheWorkAsksForALaterTry) {
    const redis_once_work later = [](const attempt&) { return retry_after{1h}; };
    const auto result = once(connection, "k", patient, later);
    EXPECT_EQ(result.state, once_state::running);
    EXPECT_EQ(result.retry_in, 1h);
    EXPECT_EQ(run("k", 1, {.lease = 1min, .wait = 0s}).state, once_state::running);
    end_lease();
    EXPECT_EQ(run("k").state, once_state::done);
}

TEST_F(RedisOnce, GivesUpIfTheWorkThrows) {
    const redis_once_work fail = [](const attempt&) -> redis_outcome {
        throw std::runtime_error("no");
    };
    EXPECT_THROW((void)once(connection, "k", patient, fail), std::runtime_error);
    EXPECT_EQ(run("k").state, once_state::done) << "without a wait for the lease";
}

TEST_F(RedisOnce, LetsTheExceptionOfALateAttemptPass) {
    const redis_once_work fail = [&](const attempt&) -> redis_outcome {
        end_lease();
        resp_connection other(server);
        (void)once(other, "k", patient, adding(1));
        throw std::runtime_error("no");
    };
    EXPECT_THROW((void)once(connection, "k", patient, fail), std::runtime_error);
    EXPECT_EQ(run("k").state, once_state::replayed);
}

// The effect checks first: a refusal is final, and nothing is written.
TEST_F(RedisOnce, EndsAnOperationWhoseEffectRefuses) {
    const redis_effect take(
        "if redis.call('GET', KEYS[1]) == '0' then\n"
        "    return redis.error_reply('sold out') -- for good\nend\n"
        "return redis.call('DECR', KEYS[1]) -- the rest",
        1);
    (void)server.execute({"SET", "stock", "1"});
    const redis_once_work work = [&](const attempt&) { return take({"stock"}); };
    EXPECT_EQ(once(connection, "a", patient, work).value, "0");
    const auto refused = once(connection, "b", patient, work);
    EXPECT_EQ(refused.state, once_state::failed);
    EXPECT_NE(refused.value.find("sold out"), std::string::npos);
    (void)server.execute({"SET", "stock", "9"});
    EXPECT_EQ(once(connection, "b", patient, work).value, refused.value);
    EXPECT_EQ(stored("stock"), "9");
}

// A script is not rolled back, so an effect that failed half way must not be repeated.
TEST_F(RedisOnce, NeverRepeatsAnEffectThatFailedHalfWay) {
    const redis_effect half("redis.call('INCR', KEYS[1]) redis.call('INCR', KEYS[2])", 2);
    (void)server.execute({"SET", "text", "a"});
    const redis_once_work work = [&](const attempt&) { return half({"n", "text"}); };
    const auto failed = once(connection, "k", patient, work);
    EXPECT_EQ(failed.state, once_state::failed);
    EXPECT_NE(failed.value.find("not an integer"), std::string::npos) << failed.value;
    EXPECT_EQ(once(connection, "k", patient, work).value, failed.value);
    EXPECT_EQ(stored("n"), "1");
}

TEST_F(RedisOnce, HasNoEffectOnAServerWithoutMemory) {
    const redis_once_work work = [&](const attempt&) {
        (void)server.execute({"CONFIG", "SET", "maxmemory", "1"});
        return add({"n"}, {1});
    };
    EXPECT_EQ(code_of([&] { (void)once(connection, "k", patient, work); }), errc::unavailable);
    (void)server.execute({"CONFIG", "SET", "maxmemory", "0"});
    end_lease();
    EXPECT_EQ(run("k").value, "1");
}

TEST_F(RedisOnce, DoesNotKeepALargeResult) {
    const once_options small{.lease = 1min, .largest_result = 2};
    EXPECT_EQ(run("k", 123, small).value, "123");
    const auto replay = run("k", 123, small);
    EXPECT_EQ(replay.state, once_state::replayed);
    EXPECT_FALSE(replay.has_value);
    EXPECT_EQ(stored("n"), "123");
}

// The interleaving: an attempt is paused for longer than its lease. Another caller takes over, and
// ends. The first attempt awakes and sends its effect.
TEST_F(RedisOnce, RefusesTheEffectOfALateAttempt) {
    once_result second;
    const redis_once_work paused = [&](const attempt& first) {
        EXPECT_EQ(first.number(), 1U);
        end_lease();
        resp_connection other(server);
        second = once(other, "k", patient, [&](const attempt& next) {
            EXPECT_EQ(next.number(), 2U);
            EXPECT_GT(next.token(), first.token());
            return add({"n"}, {7});
        });
        return add({"n"}, {1});
    };
    const auto first = once(connection, "k", patient, paused);
    EXPECT_EQ(second.state, once_state::done);
    EXPECT_EQ(first.state, once_state::replayed);
    EXPECT_EQ(first.value, "7");
    EXPECT_EQ(stored("n"), "7");
}

// The same interleaving with the usual wrong ways: an end that checks no token, and an attempt that
// deletes the record when it fails.
TEST_F(RedisOnce, HasTwoEffectsWithoutItsChecks) {
    const std::string record = "pawl-once::{all}:k";
    ASSERT_TRUE(claim(connection, "k", patient));
    end_lease();
    (void)run("k");
    (void)server.execute({"EVAL",
                          "if redis.call('EXISTS', KEYS[1]) == 1 then\n"
                          "    redis.call('INCR', KEYS[2])\nend",
                          "2", record, "n"});
    EXPECT_EQ(stored("n"), "2") << "the wrong way does no damage, so it shows nothing";
    std::printf("an end that checks no token: 2 effects of 1 operation\n");

    (void)server.execute({"FLUSHALL"});
    ASSERT_TRUE(claim(connection, "k", patient));
    end_lease();
    (void)run("k");
    (void)server.execute({"DEL", record});  // by the first attempt, which fails late
    (void)run("k");
    EXPECT_EQ(stored("n"), "2") << "the wrong way does no damage, so it shows nothing";
    std::printf("a failed attempt that deletes the record: 2 effects of 1 operation\n");
}

TEST_F(RedisOnce, FailsAfterItsAttempts) {
    const once_options twice{.lease = 1min, .attempts = 2};
    for (std::uint32_t number = 1; number <= 2; ++number) {
        const auto crashed = claim(connection, "k", twice);
        ASSERT_TRUE(crashed);
        EXPECT_EQ(crashed.attempt->number(), number);
        end_lease();
    }
    const auto result = run("k", 1, twice);
    EXPECT_EQ(result.state, once_state::failed);
    EXPECT_EQ(result.value, "too many attempts");
    EXPECT_EQ(works, 0);
}

TEST_F(RedisOnce, KeepsAPendingRecordForeverAndAnEndedOneForItsTime) {
    ASSERT_TRUE(claim(connection, "k", patient));
    EXPECT_EQ(server.execute({"PTTL", "pawl-once::{all}:k"}).number(), -1);
    end_lease();
    (void)run("k", 1, {.lease = 1min, .keep = 1h});
    const auto left = server.execute({"PTTL", "pawl-once::{all}:k"}).number();
    EXPECT_GT(left, 0);
    EXPECT_LE(left, 3'600'000);
}

TEST_F(RedisOnce, ListsUnfinishedOperations) {
    for (const std::string key : {"a", "b", "c", "d"}) {
        ASSERT_TRUE(claim(connection, {key, "", "shop"}, patient));
        if (key != "c") end_lease("pawl-once:{shop}:" + key);
    }
    (void)once(connection, {"b", "", "shop"}, patient, adding(1));
    const auto listed = unfinished(connection, "shop");
    ASSERT_EQ(listed.size(), 2U);
    EXPECT_EQ(listed[0].key, "a");
    EXPECT_EQ(listed[0].scope, "shop");
    EXPECT_EQ(listed[0].attempts, 1U);
    EXPECT_TRUE(listed[0].token);
    EXPECT_EQ(listed[1].key, "d");
    EXPECT_EQ(unfinished(connection, "shop", {}, "a").size(), 1U);
    EXPECT_EQ(unfinished(connection, "shop", {}, "", 1).size(), 1U);
    EXPECT_TRUE(unfinished(connection, "shop", std::chrono::hours(24) * 36500).empty());
    EXPECT_TRUE(unfinished(connection, "").empty());
}

TEST_F(RedisOnce, ListsManyUnfinishedOperations) {
    std::set<std::string> keys;
    for (int i = 0; i < 250; ++i) {
        const std::string key = std::to_string(i);
        ASSERT_TRUE(claim(connection, key, patient));
        if (i % 2 == 0) end_lease("pawl-once::{all}:" + key);
        if (i % 2 == 0) keys.insert(key);
    }
    std::set<std::string> listed;
    std::string last;
    for (;;) {
        const auto page = unfinished(connection, "", {}, last, 40);
        for (const once_record& each : page)
            EXPECT_TRUE(listed.insert(each.key).second);
        if (page.empty()) break;
        last = page.back().key;
    }
    EXPECT_EQ(listed, keys);
}

TEST_F(RedisOnce, RunsOutsideEffectsAtLeastOnce) {
    int effects = 0;
    const once_work pay = [&](const attempt& present) -> outcome {
        ++effects;
        return "paid " + present.key();
    };
    EXPECT_EQ(at_least_once(connection, "k", patient, pay).value, "paid k");
    EXPECT_EQ(at_least_once(connection, "k", patient, pay).state, once_state::replayed);
    EXPECT_EQ(effects, 1);
    // The server loses the record of an effect that stays, as an asynchronous failover may.
    (void)server.execute({"FLUSHALL"});
    EXPECT_EQ(at_least_once(connection, "k", patient, pay).state, once_state::done);
    EXPECT_EQ(effects, 2) << "so the outside must know the key";
}

TEST_F(RedisOnce, LosesRecordAndEffectTogether) {
    (void)run("k", 5);
    (void)server.execute({"FLUSHALL"});
    EXPECT_EQ(run("k", 5).value, "5");
    EXPECT_EQ(stored("n"), "5");
}

TEST_F(RedisOnce, HasStepsForProgramsWithTheirOwnLoop) {
    const auto claimed = claim(connection, "k", patient);
    ASSERT_TRUE(claimed);
    const auto other = claim(connection, "k", {.lease = 1min, .wait = 0s});
    EXPECT_FALSE(other);
    EXPECT_EQ(other.known.state, once_state::running);
    EXPECT_GT(other.known.retry_in, 0s);
    EXPECT_TRUE(give_up(connection, *claimed.attempt));
    const auto second = claim(connection, "k", patient);
    ASSERT_TRUE(second);
    EXPECT_FALSE(finish(connection, *claimed.attempt, outcome("late"), patient));
    EXPECT_FALSE(give_up(connection, *claimed.attempt));
    EXPECT_TRUE(finish(connection, *second.attempt, outcome("result"), patient));
    EXPECT_FALSE(finish(connection, *second.attempt, outcome("again"), patient));
    EXPECT_EQ(claim(connection, "k", patient).known.value, "result");
}

TEST_F(RedisOnce, WaitsForALockInFrontAndReplaysWithoutIt) {
    pawl::blocking::client locks(pawl::from_url(server.url()));
    std::stop_token lost;
    const redis_once_work work = [&](const attempt& present) {
        lost = present.lost();
        return add({"n"}, {1});
    };
    EXPECT_EQ(guarded_once(locks, connection, "lock", "k", patient, work).value, "1");
    EXPECT_TRUE(lost.stop_possible());
    auto holder = locks.acquire("lock", {.ttl = 1min});
    const once_options impatient{.lease = 1min, .wait = 0s};
    EXPECT_EQ(guarded_once(locks, connection, "lock", "k", impatient, work).state,
              once_state::replayed);
    const auto busy = guarded_once(locks, connection, "lock", "other", impatient, work);
    EXPECT_EQ(busy.state, once_state::running);
    EXPECT_EQ(busy.retry_in, 1min) << "the ttl of the lock";
    const once_work pay = [](const attempt&) { return outcome("paid"); };
    EXPECT_EQ(guarded_at_least_once(locks, connection, "free", "p", patient, pay).value, "paid");
    EXPECT_EQ(stored("n"), "1");
    once_options without_record = patient;
    without_record.with = layers::lock;
    EXPECT_EQ(
        code_of([&] { (void)guarded_once(locks, connection, "free", "q", without_record, work); }),
        errc::bad_option);
}

TEST_F(RedisOnce, RefusesRecordsThatItDoesNotRecognise) {
    (void)server.execute({"HSET", "pawl-once::{all}:k", "state", "9"});
    EXPECT_EQ(code_of([&] { (void)run("k"); }, "no record"), errc::wrong_type);
    (void)server.execute({"DEL", "pawl-once::{all}:k"});
    (void)server.execute({"SET", "pawl-once::{all}:k", "text"});
    EXPECT_EQ(code_of([&] { (void)run("k"); }), errc::wrong_type);
    EXPECT_EQ(stored("pawl-once::{all}:k"), "text");
}

TEST_F(RedisOnce, RefusesWrongArguments) {
    EXPECT_EQ(code_of([&] { (void)run(""); }, "1 to 255"), errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)run({"k", "", "a{b"}); }, "brace"), errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)run("k", 1, {.lease = 0s}); }, "lease"), errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)add({"a", "b"}); }, "has 1 keys"), errc::bad_option);
    EXPECT_EQ(works, 0);
    EXPECT_TRUE(connection.sent.empty());
    const redis_once_work nothing = [](const attempt&) { return effect_call(); };
    EXPECT_EQ(code_of([&] { (void)once(connection, "k", patient, nothing); }, "redis_effect"),
              errc::bad_option);
}

TEST(RedisOnceInACluster, KeepsRecordAndEffectInOneSlot) {
    support::redis_server server({.cluster = true});
    server.serve_all_slots();
    resp_connection connection(server);
    const redis_effect add("return redis.call('INCR', KEYS[1])", 1);
    const redis_once_work work = [&](const attempt&) { return add({"{order-7}:n"}); };
    EXPECT_EQ(once(connection, {"k", "", "order-7"}, patient, work).value, "1");
    EXPECT_EQ(once(connection, {"k", "", "order-7"}, patient, work).value, "1");
    EXPECT_EQ(code_of(
                  [&] {
                      (void)once(connection, {"k", "", "other"}, patient, work);
                  },
                  "hash tag"),
              errc::bad_option);
    EXPECT_EQ(
        once(connection, "k", patient, [&](const attempt&) { return add({"{all}:n"}); }).value,
        "1");
}

// Loses the answer to one command, after the server has executed it.
class lossy_connection final : public redis_connection {
public:
    lossy_connection(redis_connection& inner, int command) : inner_(inner), left_(command) {}
    redis_reply execute(const redis_command& command) override {
        auto reply = inner_.execute(command);
        if (reply.type != redis_reply::kind::error && --left_ == 0)
            throw pawl::error(errc::unreachable, "the answer is lost");
        return reply;
    }

private:
    redis_connection& inner_;
    int left_;
};

class RedisOnceWithALostAnswer : public RedisOnce, public testing::WithParamInterface<int> {};

TEST_P(RedisOnceWithALostAnswer, HasOneEffect) {
    lossy_connection lossy(connection, GetParam());
    try {
        (void)once(lossy, "k", patient, adding(5));
    } catch (const pawl::error& lost) {
        EXPECT_EQ(lost.reason(), errc::unreachable);
    }
    if (GetParam() == 2) end_lease();  // a claim without an answer ends with its lease
    EXPECT_EQ(run("k", 5).value, "5");
    EXPECT_EQ(stored("n"), "5");
}

// look, claim, and the effect with the end
INSTANTIATE_TEST_SUITE_P(, RedisOnceWithALostAnswer, testing::Values(1, 2, 3));

// Attempts that die after their claim, and attempts that are paused for longer than their lease.
TEST_F(RedisOnce, HasOneEffectUnderCrashesAndPauses) {
    constexpr std::size_t callers = 6, keys = 6;
    constexpr once_options hasty{.lease = 1s, .wait = 5min, .attempts = 1000};
    std::array<std::array<std::string, keys>, callers> values;
    std::atomic<int> late_attempts = 0;
    {
        std::vector<std::jthread> threads;
        for (std::size_t caller = 0; caller < callers; ++caller)
            threads.emplace_back([&, caller] {
                resp_connection own(server);
                for (std::size_t key = 0; key < keys; ++key) {
                    const std::string name = std::to_string(key);
                    if (key == caller) (void)claim(own, name, hasty);
                    const bool is_paused = key % 2 == 0;
                    const redis_once_work work = [&](const attempt& present) {
                        // The pause itself is the fault.
                        if (is_paused && present.number() < 3) std::this_thread::sleep_for(1200ms);
                        if (pawl::boot_clock::now() > present.safe_until()) ++late_attempts;
                        return add({"n"}, {1});
                    };
                    values[caller][key] = once(own, name, hasty, work).value;
                }
            });
    }
    std::printf("%d late attempts, %s effects of %zu operations\n", late_attempts.load(),
                stored("n").c_str(), keys);
    EXPECT_GT(late_attempts, 0) << "no attempt was late, so the test shows nothing";
    EXPECT_EQ(stored("n"), std::to_string(keys));
    for (const auto& each : values)
        EXPECT_EQ(each, values.front()) << "callers of a key saw different results";
}

TEST_F(RedisOnce, HasOneEffectForManyCallers) {
    constexpr int callers = 8, keys = 25;
    std::array<std::array<std::string, keys>, callers> values;
    {
        std::vector<std::jthread> threads;
        for (auto& own_values : values)
            threads.emplace_back([&] {
                resp_connection own(server);
                for (std::size_t key = 0; key < keys; ++key)
                    own_values[key] = once(own, std::to_string(key), patient, [&](const attempt&) {
                                          return add({"n"}, {1});
                                      }).value;
            });
    }
    EXPECT_EQ(stored("n"), std::to_string(keys));
    for (const auto& each : values)
        EXPECT_EQ(each, values.front()) << "callers of a key saw different results";
}

}  // namespace
