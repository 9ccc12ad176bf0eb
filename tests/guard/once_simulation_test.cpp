// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The protocol in virtual time, with its real statements in SQLite: callers that crash, stop and
// lose answers between any two statements. Then the same without one condition of one statement:
// each change must break a promise, or the condition would not be needed.
#include "simulated_caller.hpp"

#if PAWL_WITH_SQLITE

#include <guard/dialect_text.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;
using guard::record_state;

constexpr int steps_of_a_run = 500;
// With one attempt, the next caller ends what the first one began.
constexpr guard::once_options options_of(std::uint64_t seed) {
    return {.lease = 1s,
            .wait = 5s,
            .keep = 3s,
            .attempts = seed % 2 == 0 ? 3U : 1U,
            .looks_first = seed % 5 != 0};
}

// A run: callers of three operations, which share a scope or a key with each other.
class once_simulation {
public:
    explicit once_simulation(std::uint64_t seed, const rewriting& change = {})
        : options_(options_of(seed)), store_(change), draws_(seed) {}

    // The broken promise, if there is one.
    std::optional<std::string> run() {
        try {
            for (int i = 0; i < steps_of_a_run; ++i)
                advance();
            end_everything();
        } catch (const violation& broken) {
            return broken.text;
        }
        return std::nullopt;
    }
    [[nodiscard]] bool was_changed() const { return store_.was_changed(); }

private:
    void advance() {
        // Often two steps are in the same ms, so that two operations have equal tokens.
        simulated_ms += draws_.one_in(40)  ? draws_.draw(1500)
                        : draws_.one_in(2) ? 0
                                           : draws_.draw(25);
        auto& place = callers_[static_cast<std::size_t>(draws_.draw(callers_.size()))];
        if (!place) {
            auto& operation = operations_[static_cast<std::size_t>(draws_.draw(3))];
            if (operation.is_open) place = new_caller(operation, draws_.one_in(10));
        } else if (place->due() <= simulated_ms && place->step()) {
            place.reset();
        }
        if (draws_.one_in(30)) purge();
        if (draws_.one_in(30)) check_lists();
        for (auto& each : operations_)
            check_record(each);
    }

    std::unique_ptr<simulated_caller> new_caller(simulated_operation& operation,
                                                 bool is_other_request = false) {
        return std::make_unique<simulated_caller>(store_, draws_, operation, options_,
                                                  is_other_request, attempts_);
    }

    guard::rows true_record(const simulated_operation& operation) {
        return store_.truth().execute(
            {"SELECT state, token, lease_until, keep_until, result FROM pawl_once "
             "WHERE scope = ?1 AND once_key = ?2",
             {operation.scope, operation.key},
             true});
    }

    // A finished record stays as it is until it is purged, and tells of the last attempt.
    void check_record(simulated_operation& operation) {
        const auto answer = true_record(operation);
        if (answer.values.empty()) {
            if (operation.claims > 0) throw violation{"a record that was needed is gone"};
            return;
        }
        const auto& row = answer.values.front();
        const auto state = static_cast<record_state>(guard::as_number(row[0]));
        std::string text;
        for (const auto& each : row)
            text += guard::as_string(each) + "|";
        if (state == record_state::pending && !operation.final_row.empty())
            throw violation{"a finished record is pending again"};
        if (!operation.final_row.empty() && operation.final_row != text)
            throw violation{"a finished record has changed"};
        if (state != record_state::pending && operation.final_row.empty()) {
            if (operation.recorded_by == 0) judge_exhausted(operation, row);
            operation.final_row = text;
            operation.finished_at = simulated_ms;
        }
        if (state == record_state::done && operation.is_outside &&
            operation.register_value != operation.recorded_by)
            throw violation{"outside has another value than the record"};
    }

    // Nobody was told of this end, so it is that of an operation without attempts left.
    void judge_exhausted(const simulated_operation& operation,
                         const std::vector<guard::value>& row) const {
        if (guard::as_string(row[4]) != "too many attempts") throw violation{"an end by nobody"};
        if (operation.claims < options_.attempts) throw violation{"ended with attempts left"};
        if (operation.lease_end > simulated_ms) throw violation{"ended a claim that lasts"};
    }

    void purge() {
        store_.view().execute(guard::purge_statement(guard::dialect::sqlite, 2));
        for (auto& each : operations_) {
            if (!true_record(each).values.empty()) continue;
            if (each.claims == 0) continue;
            if (each.final_row.empty()) throw violation{"an unfinished record was purged"};
            if (simulated_ms < each.finished_at + options_.keep / 1ms)
                throw violation{"a record was purged before its time"};
            each.begin_next_generation();
        }
        // Callers end before the record does.
        for (auto& each : operations_)
            if (!each.final_row.empty() && simulated_ms > each.finished_at + options_.keep / 2ms)
                each.is_open = false;
    }

    void check_lists() {
        const auto list = [&](record_state state, const guard::record_key& after) {
            return store_.view().execute(
                guard::list_statement(guard::dialect::sqlite, state, 0s, after, 10));
        };
        for (const auto& row : list(record_state::pending, {"a", "j"}).values) {
            const auto& operation = operation_of(row);
            if (!operation.final_row.empty()) throw violation{"a finished record is unfinished"};
            if (std::max(operation.lease_end, operation.pause_end) > simulated_ms)
                throw violation{"a listed claim lasts"};
            if (std::pair(operation.scope, operation.key) <=
                std::pair<std::string, std::string>("a", "j"))
                throw violation{"listed twice"};
        }
    }
    simulated_operation& operation_of(const std::vector<guard::value>& row) {
        for (auto& each : operations_)
            if (each.scope == guard::as_string(row[0]) && each.key == guard::as_string(row[1]))
                return each;
        throw violation{"a record of nobody"};
    }

    // Whatever is left is repeated, and ends.
    void end_everything() {
        for (auto& operation : operations_) {
            if (operation.claims == 0 || !operation.final_row.empty()) continue;
            operation.is_open = true;
            for (int tries = 0; operation.final_row.empty(); ++tries) {
                if (tries == 200) throw violation{"an operation that does not end"};
                const auto last = new_caller(operation);
                for (int i = 0; i < 50; ++i) {
                    simulated_ms += 200;
                    if (last->due() <= simulated_ms && last->step()) break;
                    check_record(operation);
                }
                check_record(operation);
            }
        }
    }

    const guard::once_options options_;
    simulated_store store_;
    simulated_runtime draws_;
    std::int64_t attempts_ = 0;
    std::array<simulated_operation, 3> operations_{simulated_operation{"a", "j", false},
                                                   simulated_operation{"a", "k", true},
                                                   simulated_operation{"b", "k", false}};
    std::array<std::unique_ptr<simulated_caller>, 5> callers_;
};

std::uint64_t seeds(std::uint64_t usual) {
    const char* setting = std::getenv("PAWL_SEEDS");
    return setting == nullptr ? usual : std::strtoull(setting, nullptr, 10);
}

TEST(OnceSimulation, KeepsItsPromises) {
    for (std::uint64_t seed = 1; seed <= seeds(60); ++seed) {
        const auto broken = once_simulation(seed).run();
        ASSERT_FALSE(broken.has_value()) << "seed " << seed << ": " << *broken;
    }
}

const std::string scope = "scope = ?1", key = "once_key = ?2";
const std::string looks = "SELECT state", claims = "INSERT", lists = "SELECT scope",
                  finishes = "UPDATE pawl_once SET state = ?3",
                  exhausts = "UPDATE pawl_once SET state = 3",
                  gives_up = "UPDATE pawl_once SET lease_until", purges = "DELETE";

std::string clock_text() { return guard::in_dialect(guard::dialect::sqlite, "{clock}", {}).text; }

const std::vector<rewriting> injected{
    {"LookWithoutScope", looks, scope, "?1 = ?1"},
    {"LookWithoutKey", looks, key, "?2 = ?2"},
    {"LookWithoutFingerprint", looks, "fingerprint = ?3", "?3 = ?3"},
    {"LookTakesEveryClaimForItsOwn", looks, "claim = ?4", "?4 = ?4"},
    {"ClaimOfAnyState", claims, "o.state = 1 AND ", ""},
    {"ClaimWithoutLease", claims, "o.lease_until <= " + clock_text() + " AND ", ""},
    {"ClaimWithoutFingerprint", claims, "AND o.fingerprint = excluded.fingerprint ", ""},
    {"ClaimWithoutAttempts", claims, "o.attempts < ?8", "?8 = ?8"},
    {"ClaimDoesNotCount", claims, "o.attempts + 1", "o.attempts"},
    {"ClaimKeepsTheToken", claims, "max(o.token + 1, excluded.token)", "o.token"},
    {"TokensBeginAgain", claims, "?3, " + clock_text(), "?3, 1"},
    {"FinishWithoutScope", finishes, scope, "?1 = ?1"},
    {"FinishWithoutKey", finishes, key, "?2 = ?2"},
    {"FinishOfAnyState", finishes, "state = ?6", "?6 = ?6"},
    {"FinishWithoutToken", finishes, "token = ?7", "?7 = ?7"},
    {"GiveUpWithoutScope", gives_up, scope, "?1 = ?1"},
    {"GiveUpWithoutKey", gives_up, key, "?2 = ?2"},
    {"GiveUpOfAnyState", gives_up, "state = 1 AND ", ""},
    {"GiveUpWithoutToken", gives_up, "token = ?4", "?4 = ?4"},
    {"GiveUpDeletes", gives_up, "UPDATE pawl_once SET lease_until = " + clock_text() + " + ?3",
     "DELETE FROM pawl_once"},
    {"ExhaustWithoutScope", exhausts, scope, "?1 = ?1"},
    {"ExhaustWithoutKey", exhausts, key, "?2 = ?2"},
    {"ExhaustOfAnyState", exhausts, "state = 1 AND ", ""},
    {"ExhaustWithoutToken", exhausts, "token = ?5", "?5 = ?5"},
    {"PurgeOfAnyState", purges, "state IN (2, 3) AND ", ""},
    {"PurgeWithoutKeep", purges, " AND keep_until <= " + clock_text(), ""},
    {"ListOfAnyState", lists, "state = ?1", "?1 = ?1"},
    {"ListWithoutLease", lists, "lease_until <= ", "?2 = ?2 OR 0 < "},
    {"ListFromTheBeginning", lists, "scope > ?3", "?3 = ?3"},
};

class OnceInjected : public testing::TestWithParam<rewriting> {};

TEST_P(OnceInjected, IsFound) {
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        once_simulation run(seed, GetParam());
        const auto broken = run.run();
        if (broken) {
            std::cout << "seed " << seed << ": " << *broken << "\n";
            EXPECT_TRUE(run.was_changed());
            return;
        }
    }
    FAIL() << "Every promise was kept in 2,000 runs.";
}

INSTANTIATE_TEST_SUITE_P(Bug, OnceInjected, testing::ValuesIn(injected),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace guard_tests

#endif
