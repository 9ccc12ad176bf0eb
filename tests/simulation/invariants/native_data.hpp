// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The data of a lock at its server in the native layout: see src/redis/native/scripts.
#pragma once

#include "rule.hpp"

namespace pawl::simulation {

// A non-exclusive hold: see _holders.lua.
struct server_holder {
    std::string value;
    std::uint64_t token = 0;
    std::int64_t permits = 0, ends_ms = 0;
};
using server_holders = std::map<std::string, server_holder>;  // by owner

// Of the exclusive hold; empty: none. I6: fails if the lock has no expiry.
[[nodiscard]] std::string current_value(scenario_facts& facts, const lock_record& lock);
[[nodiscard]] server_holders current_holders(const lock_record& lock);
[[nodiscard]] std::uint64_t current_counter(const lock_record& lock);
// "pawl:shared", "pawl:permits"
[[nodiscard]] bool is_held_as(const lock_record& lock, std::string_view mark);

// CLIENT:OWNER, as in the queue, for a value OWNER;CLIENT;…
[[nodiscard]] std::string member_of(const std::string& value);
// The program with this client; null: it is not known.
[[nodiscard]] simulated_process* find_process(const scenario_facts& facts,
                                              const std::string& value);

[[nodiscard]] constexpr bool can_enqueue(std::string_view script) noexcept {
    return script == "acquire" || script == "acquire_any_mode";
}
[[nodiscard]] constexpr bool can_hand_off(std::string_view script) noexcept {
    return script != "acquire" && script != "renew" && script != "renew_non_exclusive" &&
           script != "acquire_batch";
}

}  // namespace pawl::simulation
