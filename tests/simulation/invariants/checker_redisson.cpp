// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for Redisson's locks, which Java programs hold as well.
#include "checker.hpp"

#include <algorithm>
#include <limits>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// In a calm network, a message and its consequences take no longer.
constexpr auto delivery_limit = 50ms;

// Of an owner, UUID:THREAD.
std::string client_of(const std::string& owner) { return owner.substr(0, owner.find(':')); }

std::uint64_t token_of(const redis::reply& reply) {
    return reply.type == redis::reply::kind::string ? std::stoull(reply.text)
                                                    : static_cast<std::uint64_t>(reply.number);
}

}  // namespace

checker::hold_id checker::note_java_grant(simulated_process& process, const std::string& name,
                                          const java_grant& granted,
                                          const pending_request& request) {
    ++grants_;
    auto& lock = locks_.at(name);
    const auto id = ++last_hold_id_;
    auto& held = holds_[id];
    held.process = &process;
    held.name = name;
    held.token = granted.token;
    held.ttl = request.ttl;
    held.mode = request.mode;
    held.permits = request.permits;
    held.owner = granted.owner;
    held.permit_ids = granted.permit_ids;
    held.believed_until = granted.believed_until;
    excuse_grant(held, lock, request);
    const auto unlocked = lock.redisson.unlocked_at.find(granted.owner);
    if (unlocked != lock.redisson.unlocked_at.end() && unlocked->second >= request.requested_at)
        held.excused_until = instant::max();
    if (held.token != 0) check_tokens(held, lock, request);
    if (!is_believed(held)) return id;
    check_exclusivity(held);
    check_held_at_server(held, "when it was granted");
    return id;
}

void checker::note_java_renewal(hold_id id, instant believed_until) {
    const auto it = holds_.find(id);
    if (it == holds_.end()) return;
    it->second.believed_until = std::max(it->second.believed_until, believed_until);
    check_held_at_server(it->second, "when it was renewed");
}

checker::wait_id checker::begin_java_wait(simulated_process& process, const std::string& name,
                                          const std::string& owner, std::uint32_t permits) {
    const auto id = begin_wait(process, name, permits);
    waits_[id].java_owner = owner;
    return id;
}

std::vector<std::string> checker::abandoned_java_places(const std::string& name) const {
    std::vector<std::string> result;
    const auto& lock = locks_.at(name);
    const auto* const queue = data_of(lock).peek<store::list>(lock.keys.queue);
    if (queue == nullptr) return result;
    for (const auto& owner : *queue) {
        const bool is_pawl = owner.find(":-") != owner.npos;
        const bool waits = std::ranges::any_of(waits_, [&](const auto& wait) {
            return wait.second.java_owner == owner && wait.second.lock == &lock &&
                   !dead_processes_.contains(wait.second.process);
        });
        if (!is_pawl && !waits) result.push_back(owner);
    }
    return result;
}

checker::redisson_lock checker::read_redisson_lock(const lock_record& lock) const {
    redisson_lock result;
    const auto& data = data_of(lock);
    const auto* const stored = data.peek(lock.keys.lock);
    const auto* const fields = data.peek<store::hash>(lock.keys.lock);
    if (stored == nullptr || fields == nullptr) return result;
    result.ends_ms = stored->expires_ms.value_or(std::numeric_limits<std::int64_t>::max());
    if (result.ends_ms < data.now_ms()) return {};  // as Redis: alive in its last millisecond
    for (const auto& [field, count] : *fields)
        result.owners.insert(field);
    return result;
}

std::optional<instant> checker::redisson_expiry(const lock_record& lock,
                                                const user_hold& held) const {
    if (lock.has_permits) return permits_expiry(lock, held);
    const auto present = read_redisson_lock(lock);
    const auto& granted = lock.redisson.owners_by_token;
    const auto [first, last] = granted.equal_range(held.token);
    const bool is_held = held.handle == nullptr ? present.owners.contains(held.owner)
                                                : std::any_of(first, last, [&](const auto& each) {
                                                      return present.owners.contains(each.second);
                                                  });
    if (!is_held) return std::nullopt;
    return instant_of_server_ms(lock, present.ends_ms);
}

void checker::on_redisson_executed(const redisson_invocation& invocation) {
    if (invocation.reply.type == redis::reply::kind::error) return check_refusal(invocation);
    if (invocation.script == "redisson/renew") check_renewal_replies(invocation);
    for (const auto& key : invocation.keys()) {
        executed_scripts_[key].push_back(loop_.now());
        auto* const lock = find_lock(servers_.front(), invocation.database, key);
        if (lock == nullptr) continue;
        if (lock->has_permits)
            inspect_permits(*lock, invocation);
        else
            inspect_redisson_lock(*lock, invocation);
    }
}

// I6: on a node of a cluster, the keys and channels of each script are in one slot.
void checker::check_refusal(const redisson_invocation& invocation) {
    check_redisson_budget(invocation);
    if (invocation.reply.text.find("the same slot") != std::string::npos)
        fail("I6", std::string(invocation.script) + " has keys in several slots");
}

void checker::inspect_redisson_lock(lock_record& lock, const redisson_invocation& invocation) {
    const auto before = std::exchange(lock.redisson.present, read_redisson_lock(lock));
    const auto& present = lock.redisson.present;
    if (!present.owners.empty() && present.ends_ms == std::numeric_limits<std::int64_t>::max())
        fail("I6", "a lock without an expiry after " + std::string(invocation.script));
    if (present.owners != before.owners && !present.owners.empty())
        lock.redisson.taken_at = loop_.now();
    if (invocation.script.ends_with("acquire")) note_redisson_grant(lock, invocation);
    if (invocation.script == "redisson/downgrade") note_redisson_downgrade(lock, invocation);
    if (invocation.script == "java/read_unlock")
        note_java_unlock(lock, invocation.arguments()[1]);
    else if (invocation.script.starts_with("java/") && invocation.script.ends_with("unlock"))
        note_java_unlock(lock, invocation.arguments()[2]);
    if (invocation.script == "java/renew") excuse_late_renewal(lock, invocation, before);
    if (invocation.script == "java/read_renew") excuse_renewal_without_lease(lock, invocation);
    check_fair_queue(lock, invocation, before);
    if (invocation.script == "redisson/renew") check_redisson_renewal(lock, invocation, before);
    if (invocation.script == "redisson/force_release" && invocation.reply.number == 1)
        note_redisson_force(lock);
    for (const auto& [id, held] : holds_)
        if (&locks_.at(held.name) == &lock) check_held_at_server(held, "after", invocation.script);
    // Nobody reports the end of a lease.
    const bool has_expired = before.ends_ms < data_of(lock).now_ms();
    if (!before.owners.empty() && present.owners.empty() && !has_expired)
        expect_redisson_grant(lock);
}

void checker::note_redisson_force(lock_record& lock) {
    lock.forced_at = loop_.now();
    note_fault(lock);
}

void checker::note_redisson_grant(lock_record& lock, const redisson_invocation& invocation) {
    const auto& owner = invocation.arguments()[0];
    processes_[lock.has_permits && !is_plain_semaphore(lock) ? owner : client_of(owner)] =
        &invocation.process;
    check_granted_owner(invocation);
    if (invocation.reply.items.at(0).number != 1) return;
    const auto token = token_of(invocation.reply.items.at(1));
    lock.redisson.owners_by_token.emplace(token, owner);
    if (token != 0) expect_redisson_delivery(lock, invocation.process, owner, token);
}

// The token stays the same.
void checker::note_redisson_downgrade(lock_record& lock, const redisson_invocation& invocation) {
    const auto& writer = invocation.arguments()[0];
    auto& granted = lock.redisson.owners_by_token;
    const auto it =
        std::ranges::find(granted, writer, [](const auto& each) { return each.second; });
    if (invocation.reply.number == 1 && it != granted.end())
        granted.emplace(it->first, invocation.arguments()[1]);
}

// I8: in a calm network, a lock that a client was granted and no user has is released at once.
void checker::expect_redisson_delivery(const lock_record& lock, simulated_process& process,
                                       const std::string& owner, std::uint64_t token) {
    if (!is_calm(lock)) return;
    loop_.schedule_after(delivery_limit, [this, &lock, &process, owner, token] {
        const bool is_held = lock.has_permits ? has_permits_of(lock, owner)
                                              : read_redisson_lock(lock).owners.contains(owner);
        if (is_held && !lock.granted_tokens.contains({&process, token}) &&
            is_awake(process, 2 * delivery_limit))
            fail("I8", (lock.has_permits ? "A request" : owner) + " was granted '" +
                           lock.keys.lock + "', and the lock was neither delivered nor released");
    });
}

// Redisson's `unlock` names the thread, not the hold. If an `unlock` is executed late, it also ends
// the thread's next hold.
void checker::note_java_unlock(lock_record& lock, const std::string& owner) {
    if (lock.redisson.present.owners.contains(owner)) return;
    lock.redisson.unlocked_at[owner] = loop_.now();
    for (auto& [id, held] : holds_)
        if (held.owner == owner && &locks_.at(held.name) == &lock)
            held.excused_until = instant::max();
}

// Redisson's renewal names the thread, too. If a repeated renewal is executed late, it may shorten
// the lease of the thread's next hold.
void checker::excuse_late_renewal(lock_record& lock, const redisson_invocation& invocation,
                                  const redisson_lock& before) {
    if (lock.redisson.present.ends_ms >= before.ends_ms) return;
    const auto arguments = invocation.arguments();
    for (auto& [id, held] : holds_)
        if (&locks_.at(held.name) == &lock &&
            std::ranges::find(arguments, held.owner) != arguments.end())
            held.excused_until = std::max(held.excused_until, end_of_excuse(held, loop_.now()));
}

// If a Java reader's renewal is executed after the reader's own lease has ended, while others keep
// the lock, it reports success and restores no lease.
void checker::excuse_renewal_without_lease(const lock_record& lock,
                                           const redisson_invocation& invocation) {
    const auto arguments = invocation.arguments();
    for (auto& [id, held] : holds_) {
        const bool is_renewed = &locks_.at(held.name) == &lock &&
                                std::ranges::find(arguments, held.owner) != arguments.end();
        if (!is_renewed) continue;
        const auto lease = "{" + lock.keys.lock + "}:" + held.owner + ":rwlock_timeout:1";
        if (data_of(lock).find(lease) == nullptr) held.excused_until = instant::max();
    }
}

// I6: nobody passes a waiter of a fair lock's queue, and Java removes no live waiter of Pawl's.
void checker::check_fair_queue(lock_record& lock, const redisson_invocation& invocation,
                               const redisson_lock& before) {
    const auto* const stored = data_of(lock).peek<store::list>(lock.keys.queue);
    const auto queued_before = std::exchange(lock.redisson.queue, {});
    if (stored != nullptr) lock.redisson.queue.assign(stored->begin(), stored->end());
    const auto& queue = lock.redisson.queue;
    const auto& owners = lock.redisson.present.owners;
    // Not if an expired lock is back because the clock was set back.
    const auto arguments = invocation.arguments();
    const bool is_new = !owners.empty() && owners != before.owners &&
                        std::ranges::find(arguments, *owners.begin()) != arguments.end();
    const auto ahead_of = is_new ? *owners.begin() : std::string();
    for (const auto& waiter : queued_before) {
        if (waiter == ahead_of) return;
        const bool is_queued = std::ranges::find(queue, waiter) != queue.end();
        if (is_new && is_queued) fail("I6", ahead_of + " passed the waiter " + waiter);
        const auto process = processes_.find(client_of(waiter));
        if (!is_queued && invocation.script.starts_with("java/") && is_calm(lock) &&
            process != processes_.end() && waiter.find(":-") != waiter.npos &&
            is_awake(*process->second, 10s))
            fail("I6", std::string(invocation.script) + " removed the live waiter " + waiter);
    }
}

// I5: a renewal extends its own hold, and creates none.
void checker::check_redisson_renewal(const lock_record& lock, const redisson_invocation& invocation,
                                     const redisson_lock& before) {
    const auto keys = invocation.keys();
    const auto& present = lock.redisson.present;
    bool is_held = false;
    for (std::size_t i = 0; i < keys.size(); i += 2) {
        if (keys[i] != lock.keys.lock) continue;
        const auto& owner = invocation.arguments()[2 * i + 1];
        is_held |= present.owners.contains(owner);
        if (present.owners.contains(owner) && !before.owners.contains(owner))
            fail("I5", "a renewal created the hold of " + owner);
    }
    if (!is_held && !present.owners.empty() && present != before)
        fail("I5", "a renewal changed another hold of '" + lock.keys.lock + "'");
}

// A fair lock's release reaches only the first waiter, which may be dead, stopped, or about to
// leave. A read-write lock's release may find Java's threads about to sleep:
// docs/backends/redisson.md.
bool checker::reports_releases_to_all(const lock_record& lock) const {
    const auto disturbs_queue = [](const fault& each) {
        return each.kind == fault_kind::pause || each.kind == fault_kind::crash;
    };
    // A waiter whose client has no room for another undo pauses, and tries again later.
    if (plan_.limits.max_undos < redis::limits{}.max_undos) return false;
    if (lock.keys.lock == fair_name)
        return plan_.behaviour.limits_wait == 0 &&
               std::ranges::none_of(plan_.faults, disturbs_queue);
    return true;
}

// I6: every release reaches the waiters.
void checker::expect_redisson_grant(const lock_record& lock) {
    if (!is_calm(lock) || lock.server->planned.runs_out_of_memory || !reports_releases_to_all(lock))
        return;
    const auto freed_at = loop_.now();
    loop_.schedule_after(delivery_limit, [this, &lock, freed_at] {
        if (lock.redisson.taken_at >= freed_at) return;
        for (const auto& [id, wait] : waits_)
            if (wait.lock == &lock &&
                (wait.java_owner.empty() || lock.keys.lock != read_write_name) &&
                wait.began + 2 * delivery_limit <= freed_at &&
                is_awake(*wait.process, 4 * delivery_limit))
                fail("I6", "the lock '" + lock.keys.lock + "' is free, and a user waits for it");
    });
}

void checker::expect_no_redisson_locks() {
    for (const auto& [name, lock] : locks_) {
        if (lock.has_permits) expect_no_permits(name, lock);
        for (const auto& owner : read_redisson_lock(lock).owners) {
            const auto process = processes_.find(client_of(owner));
            if (process != processes_.end() && !dead_processes_.contains(process->second))
                fail("I6", "'" + name + "' stays locked without a user by " + owner);
        }
    }
}

void checker::expect_no_redisson_keys() {
    for (std::size_t database = 0; database < simulated_redis::database_count; ++database)
        for (const auto& [key, entry] : servers_.front().data(database).all())
            if (!key.starts_with("redisson_lock_token:") && key != semaphore_name &&
                key != plain_semaphore_name && !key.starts_with("redisson_sc_receipt:"))
                fail("I6", "the key '" + key + "' remains after the end of all clients");
}

}  // namespace pawl::simulation
