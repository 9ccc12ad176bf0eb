// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Forced releases in the native layout: they end no later hold than the expected one (I5), and its
// user is notified (I4).
#pragma once

#include "rule.hpp"

namespace pawl::simulation {

class forced_releases {
public:
    explicit forced_releases(scenario_facts& facts) : facts_(facts) {}

    // An operator of the program wants to end the hold with this token, or with `any_token`.
    void note(const simulated_process& process, const lock_record& lock, std::uint64_t expected);
    // I5: a forced release with the token of a hold ends no later hold.
    void check_ended(const lock_record& lock, const simulated_process& process,
                     std::uint64_t ended) const;
    // The users of the hold with this token, or of all holds that the server does not have now.
    void expect_notified(const lock_record& lock, std::uint64_t token);
    void expect_all_notified(const lock_record& lock);

private:
    void check_notified(const user_hold& held);

    scenario_facts& facts_;
    // The largest token whose hold a program has wanted to end by force.
    std::map<std::pair<const simulated_process*, const lock_record*>, std::uint64_t> most_expected_;
};

}  // namespace pawl::simulation
