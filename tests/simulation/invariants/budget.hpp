// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// I10: refused requests become rarer.
#pragma once

#include "redisson_rule.hpp"

#include <deque>

namespace pawl::simulation {

class budget_rule : public rule {
public:
    using rule::rule;

    void on_requested(const simulated_process& process) override {
        requests_[&process].push_back(now());
    }

protected:
    using moments = std::deque<instant>;
    static constexpr instant one_second = std::chrono::seconds(1),
                             five_seconds = std::chrono::seconds(5);

    // The moments within the last `length`, which is at most 5 s. Forgets older ones.
    [[nodiscard]] std::size_t count_recent(moments& all, instant length) const {
        while (!all.empty() && all.front() < now() - five_seconds)
            all.pop_front();
        std::size_t count = 0;
        for (auto moment = all.rbegin(); moment != all.rend() && *moment >= now() - length;
             ++moment)
            ++count;
        return count;
    }

    void count_refusal(const simulated_process& process, const std::string& requests,
                       std::size_t per_second, std::size_t per_five_seconds) {
        auto& refused = refused_requests_[{&process, requests}];
        refused.push_back(now());
        for (const auto& [length, most] :
             {std::pair{one_second, per_second}, {five_seconds, per_five_seconds}})
            if (const auto count = count_recent(refused, length); count > most)
                fail("I10", std::to_string(count) + " " + requests + " were refused in " +
                                std::to_string(length / one_second) + " s");
    }

    std::map<const simulated_process*, moments> requests_;  // of its users

private:
    std::map<std::pair<const simulated_process*, std::string>, moments> refused_requests_;
};

// The refused requests of each waiter, hold and undo are limited. A waiter is refused up to 5 times
// in the first second and then less than once a second. New requests of users are sent at once. So
// are the refreshes of all waiters over a new connection.
class native_budget final : public budget_rule {
public:
    using budget_rule::budget_rule;

    void on_executed(const executed_command& call) override {
        if (call.script.empty() || call.is_unknown()) return;
        if (call.is_refused())
            check_refusal(call);
        else if (call.script.starts_with("renew"))
            refused_renewals_[&call.server].clear();
    }

private:
    void check_refusal(const executed_command& call) {
        const auto script = call.script;
        const auto& plan = facts_.scenario_plan;
        auto& requests = requests_[&call.process];
        // Only one of a program's users is at the server for a lock, unless modes are not
        // exclusive.
        const bool alone =
            !plan.has_all_modes && plan.behaviour.fair == 0 && plan.behaviour.takes_sets == 0;
        const std::size_t users = alone ? 1 : plan.users_per_program;
        const std::size_t reconnections = call.server.planned.is_calm ? 0 : 4;
        const auto arguments = call.arguments();
        if (script == "leave")
            return count_refusal(call.process, "undos" + call.server.label,
                                 8 + 8 * plan.users_per_program, 12 + 8 * plan.users_per_program);
        if (script == "acquire" || script == "acquire_any_mode" || script == "acquire_batch" ||
            script == "refresh")
            return count_refusal(
                call.process, "attempts at " + call.keys()[0],
                (7 + reconnections) * users + 3 * count_recent(requests, one_second),
                (12 + 2 * reconnections) * users + 3 * count_recent(requests, five_seconds));
        if (script == "release" || script == "release_non_exclusive")
            return count_refusal(call.process, "releases of " + arguments[0], 14, 24);
        if (script != "renew" && script != "renew_non_exclusive") return;
        // Renewals begin at a third of the ttl and are repeated after a twentieth.
        for (std::size_t i = 0; i < arguments.size(); i += 2)
            if (++refused_renewals_[&call.server][arguments[i]] > 20)
                fail("I10", "more than 20 renewals of a hold were refused: '" + arguments[i] + "'");
    }

    // In a row, by value.
    std::map<const checked_server*, std::map<std::string, std::size_t>> refused_renewals_;
};

// Java's programs are not checked: a refused thread gets an exception, and decides itself when to
// try again.
class redisson_budget final : public budget_rule {
public:
    using budget_rule::budget_rule;

    void on_executed(const executed_command& call) override {
        if (call.script.empty()) return;
        if (call.is_refused()) return check_refusal(call);
        if (call.script == "redisson/renew") check_renewals(call);
        for (const auto& key : call.keys())
            executed_scripts_[key].push_back(now());
    }

private:
    void check_refusal(const executed_command& call) {
        if (!call.script.starts_with("redisson/") || call.is_unknown()) return;
        const auto arguments = call.arguments();
        const auto users = facts_.scenario_plan.users_per_program;
        if (can_make_hold(call.script)) {
            const auto& key = call.keys()[0];
            // Each executed script may publish a message, which causes another attempt, or may be a
            // waiter's own, whose success ends its back-off.
            auto& executed = executed_scripts_[key];
            auto& requests = requests_[&call.process];
            const std::size_t reconnections = call.server.planned.is_calm ? 0 : 4;
            count_refusal(call.process, "attempts at " + key,
                          (7 + reconnections) * users + 3 * count_recent(requests, one_second) +
                              users * count_recent(executed, one_second),
                          (12 + 2 * reconnections) * users +
                              3 * count_recent(requests, five_seconds) +
                              users * count_recent(executed, five_seconds));
        } else if (is_undo(call.command, call.script)) {
            // Each of a program's clients has its own undos.
            count_refusal(call.process, "undos", 3 * (8 + 8 * users), 3 * (12 + 8 * users));
        } else if (is_redisson_release(call.script)) {
            count_refusal(call.process, "releases of " + printable(arguments[0]), 14, 24);
        } else if (call.script == "redisson/renew") {
            for (std::size_t i = 1; i < arguments.size(); i += 4)
                count_refused_renewal(arguments[i]);
        }
    }

    // The server may refuse one renewal of a script and execute the others.
    void check_renewals(const executed_command& call) {
        const auto& items = call.reply.items;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const auto& owner = call.arguments()[4 * i + 1];
            if (items[i].number == -1)
                count_refused_renewal(owner);
            else
                refused_renewals_.erase(owner);
        }
    }

    void count_refused_renewal(const std::string& owner) {
        if (++refused_renewals_[owner] > 20)
            fail("I10", "more than 20 renewals of " + printable(owner) + " were refused");
    }

    std::map<std::string, moments> executed_scripts_;      // by key
    std::map<std::string, std::size_t> refused_renewals_;  // in a row, by owner
};

}  // namespace pawl::simulation
