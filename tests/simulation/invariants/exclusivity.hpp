// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// I1: at any time, the users that believe in a lock may have it together, and the server has their
// holds.
#pragma once

#include "rule.hpp"

namespace pawl::simulation {

class exclusivity_rule final : public rule {
public:
    using rule::rule;

    void on_granted(user_hold& held, const pending_request& /*request*/) override {
        if (!facts_.is_believed(held)) return;
        check_exclusivity(held);
        check_held_at_server(held, "when it was granted");
    }
    void on_renewed(const user_hold& held) override {
        check_held_at_server(held, "when it was renewed");
    }

private:
    // No other user believes in the lock, except in a mode that allows both holds.
    void check_exclusivity(const user_hold& held) {
        if (facts_.is_excused(held)) return;
        facts_.for_each_hold_of(*held.lock, [&](const user_hold& other) {
            if (&other == &held || facts_.is_excused(other)) return;
            const bool can_coexist = held.mode == other.mode && held.mode != lock_mode::exclusive;
            if (facts_.is_believed(other) && !can_coexist)
                fail("I1", facts_.describe(held) + " was granted during " + facts_.describe(other));
        });
        if (held.mode == lock_mode::permits) check_permits(held);
    }

    void check_permits(const user_hold& held) {
        std::uint32_t permits_held = 0;
        facts_.for_each_hold_of(*held.lock, [&](const user_hold& other) {
            if (!facts_.is_excused(other) && facts_.is_believed(other))
                permits_held += other.permits;
        });
        if (permits_held > semaphore_permits)
            fail("I1", facts_.describe(held) + " was granted, and " + std::to_string(permits_held) +
                           " permits are held in all");
    }
};

}  // namespace pawl::simulation
