// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for several names as a set: all or none.
#include "checker.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr auto delivery_limit = 50ms;

}  // namespace

void checker::begin_set_request(simulated_process& process, const std::vector<std::string>& names) {
    for (const auto& name : names)
        ++locks_.at(name).set_requests[&process].active;
}

void checker::end_set_request(simulated_process& process, const std::vector<std::string>& names) {
    for (const auto& name : names) {
        auto& lock = locks_.at(name);
        auto& sets = lock.set_requests[&process];
        --sets.active;
        sets.ended = loop_.now();
        expect_nothing_left(lock, process);
    }
}

bool checker::had_fault_since(const std::vector<std::string>& names, instant when) const {
    return std::ranges::any_of(
        names, [&](const auto& name) { return locks_.at(name).last_fault >= when; });
}

void checker::check_granted_set(simulated_process& process, const held_locks& set,
                                const std::vector<std::string>& wanted) {
    if (!std::ranges::equal(set, wanted, {}, &held_lock::name))
        fail("I8", "a set has other names than requested");
    for (const held_lock& lock : set)
        if (lock.state() == lock_state::lost && is_awake(process, 10ms))
            fail("I8", "a set was granted with the lost lock '" + std::string(lock.name()) + "'");
    check_set(set);
}

// The state of a set agrees with the states of its locks.
void checker::check_set(const held_locks& set) {
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
void checker::check_all_or_none(const batch_invocation& invocation) {
    std::size_t held_count = 0;
    for (const auto& [key, value] : invocation.wanted) {
        const auto* const lock = find_lock(invocation.server, invocation.database, key);
        if (lock != nullptr && current_value(*lock) == value) ++held_count;
    }
    if (held_count != (invocation.is_granted ? invocation.wanted.size() : 0))
        fail("I8", "acquire_batch replied " + std::string(invocation.is_granted ? "all" : "none") +
                       " and acquired " + std::to_string(held_count));
}

// A request that ended a moment ago counts as active, because its locks are still being released.
bool checker::has_active_set_request(lock_record& lock, const simulated_process& process) const {
    const auto& sets = lock.set_requests[&process];
    return sets.active > 0 || loop_.now() < sets.ended + delivery_limit;
}

// A lock that a client was granted and no user has is being delivered or released. During a set
// request, the locks that were granted first are kept until the last is granted.
void checker::expect_nothing_left(lock_record& lock, simulated_process& process) {
    if (!is_calm(lock)) return;
    loop_.schedule_after(delivery_limit, [this, &lock, &process] {
        if (has_active_set_request(lock, process) || !is_awake(process, 2 * delivery_limit)) return;
        const auto check = [&](const std::string& value, std::uint64_t token) {
            if (token == 0 || find_process(value) != &process ||
                lock.granted_tokens.contains({&process, token}) ||
                was_granted_unfenced(lock, process, lock.first_seen[value]))
                return;
            if (loop_.now() >= lock.first_seen[value] + delivery_limit)
                fail("I8", "'" + value +
                               "' was granted within a set, and neither delivered nor released");
        };
        const auto value = current_value(lock);
        if (!value.empty()) check(value, lock.token_by_value[value]);
        for (const auto& [owner, holder] : current_holders(lock))
            check(holder.value, holder.token);
    });
}

}  // namespace pawl::simulation
