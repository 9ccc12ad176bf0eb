// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Each condition of the scripts is left out once, and a scenario must notice it. Without the bug,
// the same scenario must hold.
#include "redis_fixture.hpp"

#include <pawl/guard/counters.hpp>
#include <pawl/guard/redis_fence.hpp>
#include <pawl/guard/redis_once.hpp>

#include <ostream>
#include <stdexcept>

namespace {

using namespace guard_tests;
using namespace pawl::guard;

// Sends scripts with a part of their text replaced. After its first command it calls `between`, as
// another caller that comes in between.
class changed_connection final : public redis_connection {
public:
    changed_connection(const support::redis_server& server, std::string part,
                       std::string replacement)
        : inner_(server), part_(std::move(part)), replacement_(std::move(replacement)) {}

    redis_reply execute(const redis_command& command) override {
        if (command.front() == "EVALSHA")
            return {.type = redis_reply::kind::error, .text = "NOSCRIPT"};
        redis_command changed = command;
        if (command.front() == "EVAL" && !part_.empty()) replace(changed[1]);
        auto reply = inner_.execute(changed);
        if (const auto call = std::exchange(between, nullptr)) call();
        return reply;
    }

    std::function<void()> between;
    bool has_replaced = false;

private:
    void replace(std::string& text) {
        for (auto at = text.find(part_); at != std::string::npos;
             at = text.find(part_, at + replacement_.size())) {
            text.replace(at, part_.size(), replacement_);
            has_replaced = true;
        }
    }

    resp_connection inner_;
    const std::string part_, replacement_;
};

// A server, the changed connection, and a sound one of another caller.
struct stage {
    support::redis_server& server;
    changed_connection& changed;
    resp_connection& other;

    const redis_effect add{"return redis.call('INCRBY', KEYS[1], ARGV[1])", 1};

    [[nodiscard]] redis_once_work adding(std::int64_t amount) const {
        return [this, amount](const attempt&) { return add({"n"}, {amount}); };
    }
    void end_lease() const {
        (void)server.execute({"HSET", "pawl-once::{all}:k", "lease_until", "1"});
    }
    [[nodiscard]] std::string effect() const { return server.execute({"GET", "n"}).text; }
};

using scenario = bool (*)(const stage&);

struct script_bug {
    const char* name;
    const char* part;
    const char* replacement;
    scenario promise_holds;

    friend void PrintTo(const script_bug& bug, std::ostream* out) { *out << bug.name; }
};

// Another caller takes over and still works when the late attempt sends its effect.
bool late_effect_is_refused(const stage& on) {
    const redis_once_work paused = [&](const attempt&) {
        on.end_lease();
        (void)claim(on.changed, "k", patient);
        return on.add({"n"}, {1});
    };
    (void)once(on.changed, "k", {.lease = std::chrono::minutes(1), .wait = {}}, paused);
    return on.effect().empty();
}

// The same for the other steps.
bool late_steps_are_refused(const stage& on) {
    const auto first = claim(on.changed, "k", patient);
    on.end_lease();
    const auto second = claim(on.changed, "k", patient);
    return first && second && !finish(on.changed, *first.attempt, outcome("late"), patient) &&
           !give_up(on.changed, *first.attempt) &&
           finish(on.changed, *second.attempt, outcome("result"), patient);
}

bool ended_operation_stays(const stage& on) {
    const auto first = claim(on.changed, "k", patient);
    return first && finish(on.changed, *first.attempt, outcome("a"), patient) &&
           !finish(on.changed, *first.attempt, outcome("b"), patient);
}

bool token_grows_over_a_clock_set_back(const stage& on) {
    (void)claim(on.changed, "k", patient);
    on.end_lease();
    (void)on.server.execute({"HSET", "pawl-once::{all}:k", "token", "8000000000000000"});
    const auto second = claim(on.changed, "k", patient);
    return second && second.attempt->token() > pawl::fencing_token(8'000'000'000'000'000);
}

// Between the look and the claim, another caller claims.
bool claim_respects_a_lease(const stage& on) {
    on.changed.between = [&] { (void)claim(on.other, "k", patient); };
    const once_options impatient{.lease = std::chrono::minutes(1), .wait = {}};
    return !claim(on.changed, "k", impatient);
}

// Between the look and the claim, another caller claims with another request, and dies.
bool claim_respects_the_request(const stage& on) {
    on.changed.between = [&] {
        (void)claim(on.other, {"k", "another request"}, patient);
        on.end_lease();
    };
    return once(on.changed, "k", patient, on.adding(1)).state == once_state::mismatch;
}

// Between the look and the claim, another caller uses the last attempt.
bool claim_respects_the_attempts(const stage& on) {
    const once_options single{.lease = std::chrono::minutes(1), .attempts = 1};
    on.changed.between = [&] {
        (void)claim(on.other, "k", single);
        on.end_lease();
    };
    return once(on.changed, "k", single, on.adding(1)).state == once_state::failed;
}

// Between the look and the claim, another caller does it all.
bool claim_respects_the_end(const stage& on) {
    on.changed.between = [&] {
        (void)once(on.other, "k", patient, on.adding(1));
        on.end_lease();
    };
    (void)once(on.changed, "k", patient, on.adding(1));
    return on.effect() == "1";
}

bool failed_effect_is_not_repeated(const stage& on) {
    const redis_effect half("redis.call('INCR', KEYS[1]) redis.call('INCR', KEYS[2])", 2);
    (void)on.server.execute({"SET", "text", "a"});
    const redis_once_work work = [&](const attempt&) { return half({"n", "text"}); };
    for (int i = 0; i < 2; ++i) {
        (void)once(on.changed, "k", {.lease = std::chrono::minutes(1), .wait = {}}, work);
        on.end_lease();
    }
    return on.effect() == "1";
}

bool ended_record_expires_and_is_not_listed(const stage& on) {
    (void)once(on.changed, "k", patient, on.adding(1));
    return on.server.execute({"PTTL", "pawl-once::{all}:k"}).number() > 0 &&
           on.server.execute({"EXISTS", "pawl-once::{all}"}).number() == 0;
}

bool pending_record_is_listed(const stage& on) {
    (void)claim(on.changed, "k", patient);
    on.end_lease();
    return unfinished(on.other, "").size() == 1;
}

bool living_attempt_is_not_listed(const stage& on) {
    (void)claim(on.changed, "k", patient);
    return unfinished(on.changed, "").empty();
}

bool step_counts_once(const stage& on) {
    counters stock(on.changed);
    return stock.create("n", 9) && stock.subtract("n", 1, {}, "id") == 8 &&
           stock.subtract("n", 1, {}, "id") == 8 && on.effect() == "8";
}

bool bound_is_exact(const stage& on) {
    constexpr std::int64_t large = (std::int64_t{1} << 53) + 1;
    counters stock(on.changed);
    return stock.create("n", large) && !stock.subtract("n", 1, {.floor = large}) &&
           !stock.add("n", 1, {.ceiling = large});
}

bool fence_is_exact(const stage& on) {
    constexpr std::uint64_t large = (std::uint64_t{1} << 62) + 1;
    return fenced(on.changed, "p", pawl::fencing_token(large), {}).accepted &&
           !fenced(on.changed, "p", pawl::fencing_token(large - 1), {}).accepted;
}

bool fence_remembers(const stage& on) {
    return fenced(on.changed, "p", pawl::fencing_token(9), {}).accepted &&
           !fenced(on.changed, "p", pawl::fencing_token(8), {}).accepted;
}

bool fence_refuses_999(const stage& on) {
    return fenced(on.changed, "p", pawl::fencing_token(1000), {}).accepted &&
           !fenced(on.changed, "p", pawl::fencing_token(999), {}).accepted;
}

bool update_sees_another_write(const stage& on) {
    (void)on.server.execute({"SET", "n", "1"});
    int calls = 0;
    const auto add_one = [&](const std::string& old_value) {
        if (++calls == 1) (void)on.server.execute({"INCR", "n"});
        return std::to_string(std::stoll(old_value) + 1);
    };
    (void)counters(on.changed).update("n", add_one);
    return on.effect() == "3";
}

const script_bug bugs[] = {
    {"EffectWithoutToken", " and decimal(record.token) == token", "", late_effect_is_refused},
    {"EndWithoutToken", " and decimal(record.token) == token", "", late_steps_are_refused},
    {"EndWithoutState", "record.state == \"1\" and", "", ended_operation_stays},
    {"TakeOverWithoutToken", "token = math.max(record.token + 1, now)", "token = record.token",
     late_effect_is_refused},
    {"TokenOfTheClock", "token = math.max(record.token + 1, now)", "token = now",
     token_grows_over_a_clock_set_back},
    {"ClaimWithoutLease", "record.lease_until > now or", "", claim_respects_a_lease},
    {"ClaimWithoutRequest", "record.fingerprint ~= ARGV[2] or", "", claim_respects_the_request},
    {"ClaimWithoutAttempts", "record.attempts >= tonumber(ARGV[4])", "false",
     claim_respects_the_attempts},
    {"ClaimWithoutState", "record.state ~= \"1\" or", "", claim_respects_the_end},
    {"EffectBeforeItsEnd",
     "end_record(KEYS[1], KEYS[2], ARGV[3], \"3\", \"the effect did not end\", ARGV[2])",
     "redis.call('HDEL', KEYS[1], 'result')", failed_effect_is_not_repeated},
    {"EndWithoutTtl", "redis.call(\"PEXPIRE\", key, keep_ms)", "",
     ended_record_expires_and_is_not_listed},
    {"EndStaysPending", "redis.call(\"ZREM\", pending, member)", "",
     ended_record_expires_and_is_not_listed},
    {"ClaimIsNotPending", "redis.call(\"ZADD\", KEYS[2], 0, ARGV[5])", "",
     pending_record_is_listed},
    {"ListOfLivingAttempts", "now - record.lease_until >= tonumber(ARGV[2])", "true",
     living_attempt_is_not_listed},
    {"StepWithoutMemory", "if remembered then", "if false then", step_counts_once},
    {"BoundOfDoubles", "return #a < #b or (#a == #b and a < b)", "return tonumber(a) < tonumber(b)",
     bound_is_exact},
    {"FenceOfDoubles", "is_less(token, newest)", "tonumber(token) < tonumber(newest)",
     fence_is_exact},
    {"FenceOfText", "return #a < #b or (#a == #b and a < b)", "return a < b", fence_refuses_999},
    {"FenceWithoutMemory", "redis.call(\"SET\", fence, token)", "", fence_remembers},
    {"ReplaceWithoutLook", "redis.call(\"GET\", KEYS[1]) ~= ARGV[1]", "false",
     update_sees_another_write},
};

class ScriptBugs : public testing::TestWithParam<script_bug> {};

TEST_P(ScriptBugs, AreNoticed) {
    const script_bug& bug = GetParam();
    // Redis 7, and Valkey 8.0, have no SET … IFEQ, so `update` uses its script.
    support::redis_server server({.program = "redis-server"});
    resp_connection other(server);
    changed_connection sound(server, "", "");
    EXPECT_TRUE(bug.promise_holds({server, sound, other})) << "without the bug";
    (void)server.execute({"FLUSHALL"});
    changed_connection changed(server, bug.part, bug.replacement);
    bool holds = false;
    try {
        holds = bug.promise_holds({server, changed, other});
    } catch (const std::runtime_error& noticed) {
        std::printf("%s: %s\n", bug.name, noticed.what());
    }
    EXPECT_FALSE(holds) << "nothing noticed the bug";
    EXPECT_TRUE(changed.has_replaced) << "the script has changed; change the bug, too";
}

INSTANTIATE_TEST_SUITE_P(, ScriptBugs, testing::ValuesIn(bugs),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
