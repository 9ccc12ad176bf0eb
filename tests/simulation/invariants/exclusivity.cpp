// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// I1: at any time, the users that believe in a lock may have it together, and the server has their
// holds.
#include "rule.hpp"

namespace pawl::simulation {
namespace {

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

}  // namespace

void rule::check_held_at_server(const user_hold& held, std::string_view when,
                                std::string_view script) const {
    const bool is_known = held.token != 0 || !held.owner.empty();
    if (!is_known || facts_.is_excused(held) || !facts_.is_believed(held)) return;
    const auto& reader = *held.lock->reader;
    const auto believed_until = held.handle == nullptr
                                    ? held.believed_until
                                    : held.process->instant_of(held.handle->safe_until());
    const auto end = reader.expiry_of(held);
    if (!end) {
        fail("I1", facts_.describe(held) + " is not at the server, " + std::string(when) +
                       (script.empty() ? "" : " " + std::string(script)) + "; its value is '" +
                       reader.value_of(*held.lock) + "'");
    } else if (believed_until > *end) {
        fail("I1", facts_.describe(held) + " is believed beyond its end at the server");
    }
}

void rule::check_all_at_server(const lock_record& lock, const executed_command& call) const {
    facts_.for_each_hold_of(
        lock, [&](const user_hold& held) { check_held_at_server(held, "after", call.script); });
}

std::unique_ptr<rule> make_exclusivity_rule(scenario_facts& facts) {
    return std::make_unique<exclusivity_rule>(facts);
}

}  // namespace pawl::simulation
