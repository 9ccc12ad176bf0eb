// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for several names as a set: all or none (I8).
#pragma once

#include "rule.hpp"

namespace pawl::simulation {

class native_locks;

class set_rule final : public rule {
public:
    // Without `locks`: in Redisson's layout, which has no sets.
    set_rule(scenario_facts& facts, const native_locks* locks) : rule(facts), locks_(locks) {}

    // For several names, sorted: a user requests them, the request ends, the set is granted.
    void begin_request(simulated_process& process, const std::vector<std::string>& names);
    void end_request(simulated_process& process, const std::vector<std::string>& names);
    void check_granted(simulated_process& process, const held_locks& set,
                       const std::vector<std::string>& wanted);
    // The state of a set agrees with the states of its locks.
    void check(const held_locks& set);
    void on_executed(const executed_command& call) override;

private:
    void expect_nothing_left(lock_record& lock, simulated_process& process);

    const native_locks* const locks_;
};

}  // namespace pawl::simulation
