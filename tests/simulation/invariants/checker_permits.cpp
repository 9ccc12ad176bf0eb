// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for Redisson's PermitExpirableSemaphore, whose permits Java programs hold as well.
#include "checker.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// In a calm network, a message and its consequences take no longer.
constexpr auto delivery_limit = 50ms;

// The end of a permit without a lease, as Redisson writes it.
constexpr std::int64_t never_ms = 922337203685477;

// Pawl's ids of permits begin with the owner.
constexpr std::size_t owner_size = 12;

std::vector<std::string> ids_of(const std::string& owner, std::uint32_t permits) {
    std::vector<std::string> ids;
    for (std::uint32_t i = 1; i <= permits; ++i)
        ids.push_back(owner + std::string(3, '\0') + static_cast<char>(i));
    return ids;
}

}  // namespace

checker::permit_state checker::read_permits(const lock_record& lock) const {
    permit_state result;
    const auto& data = data_of(lock);
    if (const auto* const free = data.peek<std::string>(lock.keys.lock))
        result.free = std::stoll(*free);
    if (const auto* const lent = data.peek<store::sorted_set>(lock.keys.details))
        for (const auto& [ends_ms, id] : lent->in_order())
            result.ends_ms[id] = static_cast<std::int64_t>(ends_ms);
    return result;
}

// Nothing if one of the permits is not lent any more.
std::optional<instant> checker::expiry_of_permits(const lock_record& lock,
                                                  const std::vector<std::string>& ids) const {
    const auto lent = read_permits(lock).ends_ms;
    auto first_ms = std::numeric_limits<std::int64_t>::max();
    for (const auto& id : ids) {
        const auto permit = lent.find(id);
        if (permit == lent.end()) return std::nullopt;
        first_ms = std::min(first_ms, permit->second);
    }
    if (first_ms <= data_of(lock).now_ms()) return std::nullopt;
    if (first_ms >= never_ms) return instant::max();
    return instant_of_server_ms(lock, first_ms);
}

std::optional<instant> checker::permits_expiry(const lock_record& lock,
                                               const user_hold& held) const {
    if (is_plain_semaphore(lock)) return semaphore_expiry(lock, held);
    if (held.handle == nullptr) return expiry_of_permits(lock, held.permit_ids);
    const auto [first, last] = lock.redisson.owners_by_token.equal_range(held.token);
    for (auto granted = first; granted != last; ++granted)
        if (const auto end = expiry_of_permits(lock, ids_of(granted->second, held.permits)))
            return end;
    return std::nullopt;
}

bool checker::has_permits_of(const lock_record& lock, const std::string& owner) const {
    if (is_plain_semaphore(lock)) return has_receipt(lock, owner);
    const auto lent = read_permits(lock).ends_ms;
    const auto first = lent.lower_bound(owner);
    return first != lent.end() && first->first.starts_with(owner);
}

void checker::inspect_permits(lock_record& lock, const redisson_invocation& invocation) {
    if (is_plain_semaphore(lock)) return inspect_semaphore(lock, invocation);
    const auto before = std::exchange(lock.redisson.permits, read_permits(lock));
    const auto& present = lock.redisson.permits;
    check_permit_total(present, invocation.script);
    if (invocation.script == "redisson/permits_acquire") note_redisson_grant(lock, invocation);
    if (invocation.script.starts_with("java/")) excuse_early_expiry(lock, invocation, before);
    if (invocation.script == "java/permits_update_lease") excuse_late_update(lock, before);
    if (invocation.script == "redisson/renew") check_permit_renewal(lock, invocation, before);
    if (invocation.script == "redisson/force_release" && invocation.reply.number == 1)
        note_redisson_force(lock);
    for (const auto& [id, held] : holds_)
        if (&locks_.at(held.name) == &lock) check_held_at_server(held, "after", invocation.script);
    if (present.free > before.free) expect_permit_grant(lock);
}

// I1: no permit is lent twice, and none is lost.
void checker::check_permit_total(const permit_state& present, std::string_view script) {
    if (!present.free) return;
    const auto total = *present.free + static_cast<std::int64_t>(present.ends_ms.size());
    if (total != semaphore_permits || *present.free < 0)
        fail("I1", "after " + std::string(script) + ", " + std::to_string(*present.free) +
                       " permits are free and " + std::to_string(present.ends_ms.size()) +
                       " are lent");
}

// Java's scripts get the time of Java's request. If the server's clock was set back after the
// request, they take permits that are still lent.
void checker::excuse_early_expiry(lock_record& lock, const redisson_invocation& invocation,
                                  const permit_state& before) {
    if (std::ranges::none_of(plan_.faults, [](const fault& each) {
            return each.kind == fault_kind::clock_backward;
        }))
        return;
    const auto arguments = invocation.arguments();
    const bool takes_early = std::ranges::any_of(before.ends_ms, [&](const auto& permit) {
        return !lock.redisson.permits.ends_ms.contains(permit.first) &&
               permit.second > data_of(lock).now_ms() &&
               std::ranges::find(arguments, permit.first) == arguments.end();
    });
    if (takes_early) note_fault(lock);
}

// Redisson repeats an updateLeaseTime without an answer. If it is executed after a newer one, it
// shortens the lease.
void checker::excuse_late_update(const lock_record& lock, const permit_state& before) {
    const auto& present = lock.redisson.permits.ends_ms;
    const auto is_shortened = [&](const std::string& id) {
        const auto old_lease = before.ends_ms.find(id);
        const auto new_lease = present.find(id);
        return old_lease != before.ends_ms.end() && new_lease != present.end() &&
               new_lease->second < old_lease->second;
    };
    for (auto& [hold, held] : holds_)
        if (&locks_.at(held.name) == &lock && std::ranges::any_of(held.permit_ids, is_shortened))
            held.excused_until = std::max(held.excused_until, end_of_excuse(held, loop_.now()));
}

// I5: a renewal extends its own permits, and lends none.
void checker::check_permit_renewal(const lock_record& lock, const redisson_invocation& invocation,
                                   const permit_state& before) {
    const auto keys = invocation.keys();
    std::set<std::string> owners;
    for (std::size_t i = 0; i < keys.size(); i += 2)
        if (keys[i] == lock.keys.lock) owners.insert(invocation.arguments()[2 * i + 1]);
    for (const auto& [id, ends_ms] : lock.redisson.permits.ends_ms) {
        const auto known = before.ends_ms.find(id);
        if (known == before.ends_ms.end())
            fail("I5", "a renewal lent a permit of '" + lock.keys.lock + "'");
        else if (known->second != ends_ms && !owners.contains(id.substr(0, owner_size)))
            fail("I5", "a renewal changed another permit of '" + lock.keys.lock + "'");
    }
}

// I6: when permits become free, every waiter learns it that needs no more. In Java, a message with
// the number n wakes n threads, which may be those that need more, so only a program with one
// waiter is checked.
void checker::expect_permit_grant(lock_record& lock) {
    if (!is_calm(lock) || lock.server->planned.runs_out_of_memory || !reports_releases_to_all(lock))
        return;
    const auto freed_at = lock.redisson.freed_at = loop_.now();
    const auto is_alone = [&](const user_wait& wait) {
        return std::ranges::count_if(waits_, [&](const auto& other) {
                   return other.second.lock == &lock && other.second.process == wait.process;
               }) == 1;
    };
    std::vector<wait_id> waiters;
    for (const auto& [id, wait] : waits_)
        if (wait.lock == &lock && wait.began + 2 * delivery_limit <= freed_at &&
            (wait.java_owner.empty() || is_alone(wait)))
            waiters.push_back(id);
    loop_.schedule_after(delivery_limit, [this, &lock, freed_at, waiters] {
        if (lock.redisson.freed_at != freed_at) return;  // then a later check follows
        const auto free = read_permits(lock).free.value_or(0);
        for (const auto id : waiters) {
            const auto wait = waits_.find(id);
            if (wait != waits_.end() && wait->second.permits <= free &&
                is_awake(*wait->second.process, 4 * delivery_limit))
                fail("I6", std::to_string(free) + " permits of '" + lock.keys.lock +
                               "' are free, and a user waits for " +
                               std::to_string(wait->second.permits));
        }
    });
}

std::vector<std::string> checker::abandoned_permits(const std::string& name) const {
    std::vector<std::string> result;
    for (const auto& [id, ends_ms] : read_permits(locks_.at(name)).ends_ms)
        if (ends_ms >= never_ms && !java_permit_ids_.contains(id)) result.push_back(id);
    return result;
}

// At the end, no permit is lent to a living program of Pawl's without a user.
void checker::expect_no_permits(const std::string& name, const lock_record& lock) {
    if (is_plain_semaphore(lock)) return expect_no_receipts(name, lock);
    for (const auto& [id, ends_ms] : read_permits(lock).ends_ms) {
        const auto process = processes_.find(id.substr(0, owner_size));
        if (ends_ms > data_of(lock).now_ms() && process != processes_.end() &&
            !dead_processes_.contains(process->second))
            fail("I6", "a permit of '" + name + "' stays lent without a user");
    }
}

}  // namespace pawl::simulation
