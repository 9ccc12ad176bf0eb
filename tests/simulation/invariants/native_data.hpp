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
[[nodiscard]] inline std::string current_value(scenario_facts& facts, const lock_record& lock) {
    const auto& data = lock.data();
    const auto* const stored = data.peek(lock.keys.lock);
    if (stored == nullptr) return {};
    const auto ends = stored->expires_ms;
    if (ends && *ends < data.now_ms()) return {};
    const auto* const text = std::get_if<std::string>(&stored->content);
    if (text != nullptr && !ends && !text->starts_with("foreign"))
        facts.fail("I6", "a lock without an expiry: '" + *text + "'");
    return text != nullptr && !text->starts_with("pawl:") ? *text : std::string();
}

[[nodiscard]] inline server_holders current_holders(const lock_record& lock) {
    server_holders result;
    const auto& data = lock.data();
    const auto* const mark = data.peek<std::string>(lock.keys.lock);
    const auto* const members = data.peek<store::sorted_set>(lock.keys.holders);
    const auto* const records = data.peek<store::hash>(lock.keys.details);
    if (mark == nullptr || !mark->starts_with("pawl:") || !members || !records) return result;
    for (const auto& [score, owner] : members->in_order()) {
        const auto record = records->find(owner);
        const auto ends = static_cast<std::int64_t>(score);
        if (record == records->end() || ends <= data.now_ms()) continue;
        const auto& text = record->second;  // PERMITS TOKEN VALUE
        const auto first = text.find(' ');
        const auto second = text.find(' ', first + 1);
        result[owner] = {text.substr(second + 1), std::stoull(text.substr(first + 1)),
                         std::stoll(text), ends};
    }
    return result;
}

[[nodiscard]] inline std::uint64_t current_counter(const lock_record& lock) {
    const auto* const text = lock.data().peek<std::string>(lock.keys.fence);
    return text != nullptr ? std::stoull(*text) : 0;
}

// "pawl:shared", "pawl:permits"
[[nodiscard]] inline bool is_held_as(const lock_record& lock, std::string_view mark) {
    const auto* const text = lock.data().peek<std::string>(lock.keys.lock);
    return text != nullptr && *text == mark;
}

// CLIENT:OWNER, as in the queue, for a value OWNER;CLIENT;…
[[nodiscard]] inline std::string member_of(const std::string& value) {
    const auto first = value.find(';');
    const auto second = first == value.npos ? first : value.find(';', first + 1);
    if (second == value.npos) return {};
    return value.substr(first + 1, second - first - 1) + ":" + value.substr(0, first);
}

// The program with this client; null: it is not known.
[[nodiscard]] inline simulated_process* find_process(const scenario_facts& facts,
                                                     const std::string& value) {
    const auto member = member_of(value);
    const auto it = facts.processes.find(member.substr(0, member.find(':')));
    return it == facts.processes.end() ? nullptr : it->second;
}

[[nodiscard]] constexpr bool can_enqueue(std::string_view script) noexcept {
    return script == "acquire" || script == "acquire_any_mode";
}
[[nodiscard]] constexpr bool can_hand_off(std::string_view script) noexcept {
    return script != "acquire" && script != "renew" && script != "renew_non_exclusive" &&
           script != "acquire_batch";
}

}  // namespace pawl::simulation
