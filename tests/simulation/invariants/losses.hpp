// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// I4: a user is notified of a loss by its deadline, and has none without a fault.
#pragma once

#include "rule.hpp"

namespace pawl::simulation {

class loss_rule final : public rule {
public:
    using rule::rule;

    void on_granted(user_hold& held, const pending_request& /*request*/) override {
        if (held.handle != nullptr && facts_.is_believed(held)) watch(held.id);
    }

    void on_noticed_loss(const user_hold& held) override {
        const auto why = held.handle->why_lost();
        const bool was_ever_excused = held.excused_until >= instant{};
        if (why == loss_reason::max_hold || was_ever_excused) return;
        if (held.lock->is_calm() && held.process->resumed_at() == instant{})
            fail("I4",
                 facts_.describe(held) + " was lost (" + to_string(why) + ") without a fault");
    }

private:
    void watch(hold_id id) {
        using namespace std::chrono_literals;
        const auto& held = facts_.holds.at(id);
        const auto deadline = held.handle->safe_until();
        const auto before = held.process->instant_of(deadline) - 2us;
        facts_.loop.schedule_at(before, [this, id] {
            const auto it = facts_.holds.find(id);
            if (it != facts_.holds.end())
                check_held_at_server(it->second, "just before its deadline");
        });
        facts_.loop.schedule_at(before + 2us, [this, id] { check_deadline(id); });
    }

    // At the deadline the user has been notified, if its program was running just before.
    void check_deadline(hold_id id) {
        using namespace std::chrono_literals;
        const auto it = facts_.holds.find(id);
        if (it == facts_.holds.end()) return;
        const auto& held = it->second;
        if (facts_.is_believed(held)) return watch(id);
        if (held.handle->state() == lock_state::released || held.lost.stop_requested()) return;
        if (facts_.is_awake(*held.process, 10ms)) {
            fail("I4", facts_.describe(held) + " ended without a notification");
        } else if (!facts_.dead_processes.contains(held.process)) {
            facts_.loop.schedule_after(100ms, [this, id] { check_deadline(id); });
        }
    }
};

}  // namespace pawl::simulation
