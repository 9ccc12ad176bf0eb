// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for several names as a set: all or none (I8).
#pragma once

#include "native_locks.hpp"

namespace pawl::simulation {

class set_rule final : public rule {
public:
    // Without `locks`: in Redisson's layout, which has no sets.
    set_rule(scenario_facts& facts, const native_locks* locks) : rule(facts), locks_(locks) {}

    // For several names, sorted: a user requests them, the request ends, the set is granted.
    void begin_request(simulated_process& process, const std::vector<std::string>& names) {
        for (const auto& name : names)
            ++facts_.locks.at(name).set_requests[&process].active;
    }

    void end_request(simulated_process& process, const std::vector<std::string>& names) {
        for (const auto& name : names) {
            auto& lock = facts_.locks.at(name);
            auto& sets = lock.set_requests[&process];
            --sets.active;
            sets.ended = now();
            expect_nothing_left(lock, process);
        }
    }

    void check_granted(simulated_process& process, const held_locks& set,
                       const std::vector<std::string>& wanted) {
        if (!std::ranges::equal(set, wanted, {}, &held_lock::name))
            fail("I8", "a set has other names than requested");
        for (const held_lock& lock : set)
            if (lock.state() == lock_state::lost &&
                facts_.is_awake(process, std::chrono::milliseconds(10)))
                fail("I8",
                     "a set was granted with the lost lock '" + std::string(lock.name()) + "'");
        check(set);
    }

    // The state of a set agrees with the states of its locks.
    void check(const held_locks& set) {
        const auto any = [&](auto test) { return std::any_of(set.begin(), set.end(), test); };
        const auto is_lost = [](const held_lock& lock) { return lock.state() == lock_state::lost; };
        const auto is_told = [](const held_lock& lock) { return lock.lost().stop_requested(); };
        const auto is_earlier = [&](const held_lock& lock) {
            return lock.safe_until() < set.safe_until();
        };
        const auto has_other = [&](const held_lock& lock) {
            return set.token(lock.name()) != lock.token();
        };
        if (any(is_lost) != (set.state() == lock_state::lost))
            fail("I8", "the state of a set does not match the states of its locks");
        if (any(is_told) != set.lost().stop_requested())
            fail("I8", "the loss of a lock was not reported as the loss of its set");
        if (any(is_earlier)) fail("I8", "a set is believed for longer than one of its locks");
        if (any(has_other)) fail("I8", "a set and the handle of a name have different tokens");
    }

    // `acquire_batch` at the server: the caller holds all of the locks, or none.
    void on_executed(const executed_command& call) override {
        if (call.script != "acquire_batch" || call.is_refused()) return;
        const auto keys = call.keys();
        const auto values = call.arguments().subspan(2);
        const auto wanted = keys.size() / 2;
        std::size_t held_count = 0;
        for (std::size_t i = 0; i < wanted; ++i) {
            const auto* const lock = facts_.find_lock(call.server, call.database, keys[2 * i]);
            if (lock != nullptr && current_value(facts_, *lock) == values[i]) ++held_count;
        }
        const bool is_granted = call.returned(1);
        if (held_count != (is_granted ? wanted : 0))
            fail("I8", "acquire_batch replied " + std::string(is_granted ? "all" : "none") +
                           " and acquired " + std::to_string(held_count));
    }

private:
    // A lock that a client was granted and no user has is being delivered or released. During a set
    // request, the locks that were granted first are kept until the last is granted.
    void expect_nothing_left(lock_record& lock, simulated_process& process) {
        if (!lock.is_calm() || locks_ == nullptr) return;
        after_delivery([this, &lock, &process] {
            if (facts_.has_active_set_request(lock, process) ||
                !facts_.is_awake(process, 2 * delivery_limit))
                return;
            const auto check_delivered = [&](const std::string& value, std::uint64_t token) {
                const auto seen_at = locks_->first_seen(lock, value);
                if (token == 0 || find_process(facts_, value) != &process ||
                    lock.granted_tokens.contains({&process, token}) ||
                    lock.was_granted_unfenced(process, seen_at))
                    return;
                if (now() >= seen_at + delivery_limit)
                    fail("I8",
                         "'" + value +
                             "' was granted within a set, and neither delivered nor released");
            };
            const auto value = current_value(facts_, lock);
            const auto& tokens = locks_->tokens_by_value(lock);
            if (const auto token = tokens.find(value); token != tokens.end())
                check_delivered(value, token->second);
            for (const auto& [owner, holder] : current_holders(lock))
                check_delivered(holder.value, holder.token);
        });
    }

    const native_locks* const locks_;
};

}  // namespace pawl::simulation
