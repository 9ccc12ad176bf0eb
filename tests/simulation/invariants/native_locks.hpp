// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The holds of the native layout at the server: no script ends or creates another's hold (I5), and
// a hold that is handed off reaches a user (I6).
#pragma once

#include "forced_releases.hpp"
#include "native_data.hpp"
#include "native_queue.hpp"

namespace pawl::simulation {

class native_locks final : public rule, public lock_reader {
public:
    native_locks(scenario_facts& facts, native_queue& queue, forced_releases& forces)
        : rule(facts), queue_(queue), forces_(forces) {}

    void on_executed(const executed_command& call) override;
    void on_lock_executed(lock_record& lock, const executed_command& call) override;
    void check_no_locks() override;

    [[nodiscard]] std::optional<instant> expiry_of(const user_hold& held) const override;
    [[nodiscard]] bool still_has(const lock_record& lock,
                                 const released_hold& hold) const override {
        return hold.mode == lock_mode::exclusive && is_exclusive(lock, hold.token);
    }
    [[nodiscard]] std::string value_of(const lock_record& lock) const override {
        return current_value(facts_, lock);
    }
    // Of every value of exclusive holds so far.
    using value_tokens = std::map<std::string, std::uint64_t>;
    [[nodiscard]] const value_tokens& tokens_by_value(const lock_record& lock) const;
    // When the server had the hold with this value for the first time.
    [[nodiscard]] instant first_seen(const lock_record& lock, const std::string& value) const;

private:
    struct lock_state {
        std::string value;       // of the exclusive hold, at the last inspection
        server_holders holders;  // at the last inspection
        value_tokens token_by_value;
        // Tokens that a refresh returned for a value: new ones if the counter was lost.
        value_tokens reassigned_token_by_value;
        std::set<std::string> seen_values;  // of non-exclusive holds
        std::map<std::string, instant> first_seen;
    };

    [[nodiscard]] bool is_exclusive(const lock_record& lock, std::uint64_t token) const;
    void note_new_value(lock_record& lock, const executed_command& call,
                        const std::string& new_value);
    void check_ended_holds(const lock_record& lock, const executed_command& call,
                           std::uint64_t token);
    void inspect_holders(lock_record& lock, const executed_command& call);
    void note_new_holder(lock_record& lock, const executed_command& call, const std::string& owner);
    void expect_delivery(lock_record& lock, const std::string& value);

    native_queue& queue_;
    forced_releases& forces_;
    std::map<const lock_record*, lock_state> states_;
};

}  // namespace pawl::simulation
