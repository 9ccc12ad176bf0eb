// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redisson_rule.hpp"

#include <algorithm>
#include <ranges>

namespace pawl::simulation {
namespace {

std::uint64_t token_of(const redis::reply& reply) {
    return reply.type == redis::reply::kind::string ? std::stoull(reply.text)
                                                    : static_cast<std::uint64_t>(reply.number);
}

}  // namespace

const redisson_rule::grants& redisson_rule::grants_of(const lock_record& lock) const {
    static const grants none;
    const auto known = grants_.find(&lock);
    return known == grants_.end() ? none : known->second;
}

bool redisson_rule::still_has(const lock_record& lock, const released_hold& hold) const {
    const auto [first, last] = grants_of(lock).equal_range(hold.token);
    // A FencedLock's counter may be lost, and then gives the same token again.
    if (std::distance(first, last) != 1 || hold.mode == lock_mode::shared) return false;
    return has_owner(lock, first->second);
}

void redisson_rule::note_request(lock_record& lock, const executed_command& call,
                                 const std::string& program) {
    const auto& owner = call.arguments()[0];
    facts_.processes[program] = &call.process;
    if (!call.returned(1)) return;
    const auto token = token_of(call.reply.items.at(1));
    add_grant(lock, token, owner);
    if (token != 0) expect_delivery(lock, call.process, owner, token);
}

// I8: in a calm network, a lock that a client was granted and no user has is released at once.
void redisson_rule::expect_delivery(const lock_record& lock, simulated_process& process,
                                    const std::string& owner, std::uint64_t token) {
    if (!lock.is_calm()) return;
    after_delivery([this, &lock, &process, owner, token] {
        if (has_owner(lock, owner) && !lock.granted_tokens.contains({&process, token}) &&
            facts_.is_awake(process, 2 * delivery_limit))
            fail("I8", (lock.has_permits ? "A request" : owner) + " was granted '" +
                           lock.keys.lock + "', and the lock was neither delivered nor released");
    });
}

void redisson_rule::note_force(lock_record& lock, const executed_command& call) {
    if (call.script != "redisson/force_release" || !call.returned(1)) return;
    lock.forced_at = now();
    facts_.note_fault(lock);
}

// A fair lock's release reaches only the first waiter, which may be dead, stopped, or about to
// leave. A read-write lock's release may find Java's threads about to sleep:
// docs/backends/redisson.md.
bool redisson_rule::reports_releases_to_all(const lock_record& lock) const {
    const auto& plan = facts_.scenario_plan;
    const auto disturbs_queue = [](const fault& each) {
        return each.kind == fault_kind::pause || each.kind == fault_kind::crash;
    };
    if (!lock.is_calm() || lock.server->planned.runs_out_of_memory) return false;
    // A waiter whose client has no room for another undo pauses, and tries again later.
    if (plan.limits.max_undos < redis::limits{}.max_undos) return false;
    return lock.keys.lock != fair_name ||
           (plan.behaviour.limits_wait == 0 && std::ranges::none_of(plan.faults, disturbs_queue));
}

std::optional<std::int64_t> redisson_rule::free_permits(const lock_record& lock) {
    const auto* const free = lock.data().peek<std::string>(lock.keys.lock);
    if (free == nullptr) return std::nullopt;
    return std::stoll(*free);
}

// I6: when permits become free, every waiter learns it that needs no more. In Java, a message with
// the number n wakes n threads, which may be those that need more, so only a program with one
// waiter is checked.
void redisson_rule::expect_permit_grant(const lock_record& lock) {
    if (!reports_releases_to_all(lock)) return;
    const auto freed_at = freed_at_[&lock] = now();
    const auto is_alone = [&](const user_wait& wait) {
        return std::ranges::count_if(facts_.waits | std::views::values, [&](const auto& other) {
                   return other.lock == &lock && other.process == wait.process;
               }) == 1;
    };
    std::vector<wait_id> waiters;
    for (const auto& [id, wait] : facts_.waits)
        if (wait.lock == &lock && wait.began + 2 * delivery_limit <= freed_at &&
            (wait.java_owner.empty() || is_alone(wait)))
            waiters.push_back(id);
    after_delivery([this, &lock, freed_at, waiters] {
        if (freed_at_[&lock] != freed_at) return;  // then a later check follows
        const auto free = free_permits(lock).value_or(0);
        for (const auto id : waiters) {
            const auto wait = facts_.waits.find(id);
            if (wait != facts_.waits.end() && wait->second.permits <= free &&
                facts_.is_awake(*wait->second.process, 4 * delivery_limit))
                fail("I6", std::to_string(free) + " permits of '" + lock.keys.lock +
                               "' are free, and a user waits for " +
                               std::to_string(wait->second.permits));
        }
    });
}

std::string printable(const std::string& owner) {
    static constexpr char digits[] = "0123456789abcdef";
    if (owner.size() != 12) return owner;
    std::string text;
    for (const auto letter : owner) {
        const auto byte = static_cast<unsigned char>(letter);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

}  // namespace pawl::simulation
