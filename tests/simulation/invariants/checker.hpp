// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The stream of events of a scenario with one server or several: it hears the users' holds and
// every command of the servers, keeps the facts, and tells all rules.
#pragma once

#include "latches.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

class native_locks;
class redisson_rule;
class set_rule;

class checker final : public simulated_network::observer {
public:
    // `servers` in the order of the plan.
    checker(scheduler& loop, std::span<simulated_network* const> servers, const plan& scenario_plan,
            trace& log);
    ~checker() override;

    void add_name(const std::string& name, const lock_keys& keys, std::size_t database = 0,
                  bool has_permits = false);
    // For the faults, which it excuses.
    [[nodiscard]] scenario_facts& facts() noexcept { return facts_; }
    [[nodiscard]] latch_rule& latches() noexcept { return latches_; }
    [[nodiscard]] set_rule& sets() noexcept { return *sets_; }

    [[nodiscard]] pending_request begin_request(simulated_process& process, const std::string& name,
                                                const lock_options& options);
    // The handle must not move until `end_hold`.
    hold_id note_grant(simulated_process& process, const std::string& name, const held_lock& handle,
                       const pending_request& request);
    // A thread of a Java program holds the lock until its lease ends, which each renewal extends.
    struct java_grant {
        std::string owner;
        std::uint64_t token = 0;  // 0: unknown
        instant believed_until{};
        std::vector<std::string> permit_ids{};
    };
    hold_id note_java_grant(simulated_process& process, const std::string& name,
                            const java_grant& granted, const pending_request& request);
    void note_java_renewal(hold_id id, instant believed_until);
    // The user has requested a downgrade. Others may read from now on.
    void note_downgrade(hold_id id);
    // The user writes to the resource that the lock protects.
    void check_write(hold_id id) { tell(&rule::on_write, facts_.holds.at(id)); }
    // The user noticed the loss of the lock.
    void check_noticed_loss(hold_id id) { tell(&rule::on_noticed_loss, facts_.holds.at(id)); }
    // The user gives up the hold and no longer believes in it.
    void end_hold(hold_id id);
    void check_release(const release_report& report) { tell(&rule::on_released, report); }
    // An operator of the program wants to end the hold with this token, or with `any_token`.
    void note_force(const simulated_process& process, const std::string& name,
                    std::uint64_t expected) {
        tell(&rule::on_force, process, facts_.locks.at(name), expected);
    }
    void note_crash(simulated_process& process);
    [[nodiscard]] bool is_hold_excused(hold_id id) const {
        return facts_.is_excused(facts_.holds.at(id));
    }

    // A user waits for the name without an end, or until `end_wait`. `java_owner`: in Java.
    wait_id begin_wait(simulated_process& process, const std::string& name, std::uint32_t permits,
                       const std::string& java_owner = {});
    void end_wait(wait_id id) { facts_.waits.erase(id); }

    void on_executed(simulated_network& server, simulated_process& process, const words& command,
                     const redis::reply& reply) override;
    void on_data_changed(simulated_network& server) override;
    void on_sent(simulated_process& process, const words& command) override;
    void on_answered(const words& command, const redis::reply* reply) override;

    // At the end, when all users have finished: no lock of a living program, then no waiter.
    void expect_no_locks() { tell(&rule::check_no_locks); }
    void expect_no_waiters();
    // When all leases have ended, Redisson's layout has only counters.
    void expect_no_redisson_keys();
    // In Redisson's layout: see redisson_rule.
    [[nodiscard]] std::vector<std::string> abandoned(const std::string& name) const;
    [[nodiscard]] std::int64_t forget_lost_permits(const std::string& name,
                                                   simulated_process& process);

    void fail(const std::string& rule_name, const std::string& sentence) {
        facts_.fail(rule_name, sentence);
    }
    [[nodiscard]] const std::string& violation() const noexcept { return facts_.violation(); }
    [[nodiscard]] std::uint64_t grants() const noexcept { return grants_; }

private:
    template <class Rule, class... Others>
    Rule& add(Others&&... others) {
        auto made = std::make_unique<Rule>(facts_, std::forward<Others>(others)...);
        auto& added = *made;
        rules_.push_back(std::move(made));
        return added;
    }
    template <class... Parameters, class... Arguments>
    void tell(void (rule::*event)(Parameters...), Arguments&&... arguments) {
        for (const auto& each : rules_)
            (each.get()->*event)(arguments...);
    }
    [[nodiscard]] redisson_rule& redisson_rule_of(const lock_record& lock) const;
    [[nodiscard]] std::string_view script_of(const words& command) const;
    void note_command(const executed_command& call);
    hold_id add_hold(user_hold granted, const pending_request& request);

    scenario_facts facts_;
    trace& trace_;
    std::vector<std::unique_ptr<rule>> rules_;  // in the order in which they hear of an event
    latch_rule& latches_;
    set_rule* sets_ = nullptr;
    // Those of the scenario's layout.
    native_locks* native_locks_ = nullptr;
    redisson_rule *redisson_locks_ = nullptr, *redisson_permits_ = nullptr,
                  *redisson_semaphores_ = nullptr;
    wait_id last_wait_id_ = 0;
    std::uint64_t grants_ = 0;
};

}  // namespace pawl::simulation
