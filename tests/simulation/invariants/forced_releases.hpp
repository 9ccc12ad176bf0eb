// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Forced releases in the native layout: they end no later hold than the expected one (I5), and its
// user is notified (I4).
#pragma once

#include "rule.hpp"

#include <algorithm>

namespace pawl::simulation {

class forced_releases {
public:
    explicit forced_releases(scenario_facts& facts) : facts_(facts) {}

    // An operator of the program wants to end the hold with this token, or with `any_token`.
    void note(const simulated_process& process, const lock_record& lock, std::uint64_t expected) {
        auto& most = most_expected_[{&process, &lock}];
        most = std::max(most, expected);
    }

    // I5: a forced release with the token of a hold ends no later hold.
    void check_ended(const lock_record& lock, const simulated_process& process,
                     std::uint64_t ended) const {
        const auto most = most_expected_.find({&process, &lock});
        if (most != most_expected_.end() && ended > most->second)
            facts_.fail(
                "I5", "a forced release of a hold with token " + std::to_string(most->second) +
                          " or an earlier one ended the hold with token " + std::to_string(ended));
    }

    // The users of the hold with this token, or of all holds that the server does not have now.
    void expect_notified(const lock_record& lock, std::uint64_t token) {
        if (!lock.is_calm() || token == 0) return;
        facts_.loop.schedule_after(delivery_limit, [this, &lock, token] {
            facts_.for_each_hold_of(lock, [&](const user_hold& held) {
                if (held.token == token) check_notified(held);
            });
        });
    }

    void expect_all_notified(const lock_record& lock) {
        std::vector<hold_id> victims;
        facts_.for_each_hold_of(lock, [&](user_hold& held) {
            facts_.excuse(held);
            // One that a forced release by token has left to its holder is no victim.
            if (held.token != 0 && !lock.reader->expiry_of(held)) victims.push_back(held.id);
        });
        if (!lock.is_calm()) return;
        facts_.loop.schedule_after(delivery_limit, [this, victims] {
            for (const auto id : victims)
                if (const auto held = facts_.holds.find(id); held != facts_.holds.end())
                    check_notified(held->second);
        });
    }

private:
    void check_notified(const user_hold& held) {
        if (facts_.is_believed(held) && facts_.is_awake(*held.process, 2 * delivery_limit))
            facts_.fail("I4",
                        facts_.describe(held) + " was released by force without a notification");
    }

    scenario_facts& facts_;
    // The largest token whose hold a program has wanted to end by force.
    std::map<std::pair<const simulated_process*, const lock_record*>, std::uint64_t> most_expected_;
};

}  // namespace pawl::simulation
