// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for Redisson's locks.
#pragma once

#include "redisson_rule.hpp"

#include <algorithm>

namespace pawl::simulation {

// A lock at the server.
struct stored_lock {
    std::set<std::string> owners{};
    std::int64_t ends_ms = 0;
    bool operator==(const stored_lock&) const = default;
};

stored_lock read(const lock_record& lock) {
    stored_lock result;
    const auto& data = lock.data();
    const auto* const stored = data.peek(lock.keys.lock);
    const auto* const fields = data.peek<store::hash>(lock.keys.lock);
    if (stored == nullptr || fields == nullptr) return result;
    result.ends_ms = stored->expires_ms.value_or(std::numeric_limits<std::int64_t>::max());
    if (result.ends_ms < data.now_ms()) return {};  // as Redis: alive in its last millisecond
    for (const auto& [field, count] : *fields)
        result.owners.insert(field);
    return result;
}

class redisson_lock_rule final : public redisson_rule {
public:
    using redisson_rule::redisson_rule;

    // I6: on a node of a cluster, the keys and channels of each script are in one slot.
    void on_executed(const executed_command& call) override {
        if (!call.script.empty() && call.is_refused() &&
            call.reply.text.find("the same slot") != std::string::npos)
            fail("I6", std::string(call.script) + " has keys in several slots");
    }

    void on_granted(user_hold& held, const pending_request& request) override {
        const auto& unlocked_at = states_[held.lock].unlocked_at;
        const auto unlocked = unlocked_at.find(held.owner);
        if (unlocked != unlocked_at.end() && unlocked->second >= request.requested_at)
            held.excused_until = instant::max();
    }

    void on_data_changed(const checked_server& /*server*/) override {
        for (const auto& [name, lock] : facts_.locks) {
            states_[&lock].present = read(lock);
            states_[&lock].queue.clear();
        }
    }

    void check_no_locks() override {
        for (const auto& [name, lock] : facts_.locks)
            for (const auto& owner : read(lock).owners) {
                const auto process = facts_.processes.find(client_of(owner));
                if (process != facts_.processes.end() &&
                    !facts_.dead_processes.contains(process->second))
                    fail("I6", "'" + name + "' stays locked without a user by " + owner);
            }
    }

    std::optional<instant> expiry_of(const user_hold& held) const override {
        const auto present = read(*held.lock);
        const auto [first, last] = grants_of(*held.lock).equal_range(held.token);
        const bool is_held = held.handle == nullptr
                                 ? present.owners.contains(held.owner)
                                 : std::any_of(first, last, [&](const auto& each) {
                                       return present.owners.contains(each.second);
                                   });
        if (!is_held) return std::nullopt;
        return facts_.instant_of_server_ms(*held.lock, present.ends_ms);
    }

    std::vector<std::string> abandoned(const lock_record& lock) const override {
        std::vector<std::string> result;
        const auto* const queue = lock.data().peek<store::list>(lock.keys.queue);
        if (queue == nullptr) return result;
        for (const auto& owner : *queue) {
            const bool is_pawl = owner.find(":-") != owner.npos;
            const bool waits = std::ranges::any_of(facts_.waits, [&](const auto& wait) {
                return wait.second.java_owner == owner && wait.second.lock == &lock &&
                       !facts_.dead_processes.contains(wait.second.process);
            });
            if (!is_pawl && !waits) result.push_back(owner);
        }
        return result;
    }

private:
    struct lock_state {
        stored_lock present;                           // at the last inspection
        std::vector<std::string> queue;                // of a fair lock, at the last inspection
        std::map<std::string, instant> unlocked_at{};  // by owner, in Java
        instant taken_at{-1};                          // by the last grant
    };

    bool has_owner(const lock_record& lock, const std::string& owner) const override {
        return read(lock).owners.contains(owner);
    }

    void inspect(lock_record& lock, const executed_command& call) override {
        const auto script = call.script;
        auto& state = states_[&lock];
        const auto before = std::exchange(state.present, read(lock));
        const auto& present = state.present;
        if (!present.owners.empty() && present.ends_ms == std::numeric_limits<std::int64_t>::max())
            fail("I6", "a lock without an expiry after " + std::string(script));
        if (present.owners != before.owners && !present.owners.empty()) state.taken_at = now();
        if (can_make_hold(script)) note_request(lock, call, client_of(call.arguments()[0]));
        if (script == "redisson/downgrade") note_downgrade(lock, call);
        if (script == "java/read_unlock")
            note_java_unlock(lock, call.arguments()[1]);
        else if (script.starts_with("java/") && script.ends_with("unlock"))
            note_java_unlock(lock, call.arguments()[2]);
        if (script == "java/renew" && present.ends_ms < before.ends_ms)
            excuse_late_renewal(lock, call);
        if (script == "java/read_renew") excuse_renewal_without_lease(lock, call);
        check_fair_queue(lock, call, before);
        if (script == "redisson/renew") check_renewal(lock, call, before);
        note_force(lock, call);
        check_all_at_server(lock, call);
        // Nobody reports the end of a lease.
        const bool has_expired = before.ends_ms < lock.data().now_ms();
        if (!before.owners.empty() && present.owners.empty() && !has_expired) expect_grant(lock);
    }

    // The token stays the same.
    void note_downgrade(const lock_record& lock, const executed_command& call) {
        const auto& writer = call.arguments()[0];
        const auto& granted = grants_of(lock);
        const auto it =
            std::ranges::find(granted, writer, [](const auto& each) { return each.second; });
        if (call.returned(1) && it != granted.end())
            add_grant(lock, it->first, call.arguments()[1]);
    }

    // Redisson's `unlock` names the thread, not the hold. If an `unlock` is executed late, it also
    // ends the thread's next hold.
    void note_java_unlock(const lock_record& lock, const std::string& owner) {
        auto& state = states_[&lock];
        if (state.present.owners.contains(owner)) return;
        state.unlocked_at[owner] = now();
        facts_.for_each_hold_of(lock, [&](user_hold& held) {
            if (held.owner == owner) held.excused_until = instant::max();
        });
    }

    template <class F>
    void for_each_named_hold(const lock_record& lock, const executed_command& call, F look) {
        const auto arguments = call.arguments();
        facts_.for_each_hold_of(lock, [&](user_hold& held) {
            if (std::ranges::find(arguments, held.owner) != arguments.end()) look(held);
        });
    }

    // Redisson's renewal names the thread, too. If a repeated renewal is executed late, it may
    // shorten the lease of the thread's next hold.
    void excuse_late_renewal(const lock_record& lock, const executed_command& call) {
        for_each_named_hold(lock, call, [this](user_hold& held) { facts_.excuse(held); });
    }

    // If a Java reader's renewal is executed after the reader's own lease has ended, while others
    // keep the lock, it reports success and restores no lease.
    void excuse_renewal_without_lease(const lock_record& lock, const executed_command& call) {
        for_each_named_hold(lock, call, [&](user_hold& held) {
            const auto lease = "{" + lock.keys.lock + "}:" + held.owner + ":rwlock_timeout:1";
            if (lock.data().find(lease) == nullptr) held.excused_until = instant::max();
        });
    }

    // I6: nobody passes a waiter of a fair lock's queue, and Java removes no live waiter of Pawl's.
    void check_fair_queue(const lock_record& lock, const executed_command& call,
                          const stored_lock& before) {
        auto& state = states_[&lock];
        const auto* const stored = lock.data().peek<store::list>(lock.keys.queue);
        const auto queued_before = std::exchange(state.queue, {});
        if (stored != nullptr) state.queue.assign(stored->begin(), stored->end());
        const auto& owners = state.present.owners;
        // Not if an expired lock is back because the clock was set back.
        const auto arguments = call.arguments();
        const bool is_new = !owners.empty() && owners != before.owners &&
                            std::ranges::find(arguments, *owners.begin()) != arguments.end();
        const auto ahead_of = is_new ? *owners.begin() : std::string();
        for (const auto& waiter : queued_before) {
            if (waiter == ahead_of) return;
            const bool is_queued = std::ranges::find(state.queue, waiter) != state.queue.end();
            if (is_new && is_queued) fail("I6", ahead_of + " passed the waiter " + waiter);
            const auto process = facts_.processes.find(client_of(waiter));
            if (!is_queued && call.script.starts_with("java/") && lock.is_calm() &&
                process != facts_.processes.end() && waiter.find(":-") != waiter.npos &&
                facts_.is_awake(*process->second, std::chrono::seconds(10)))
                fail("I6", std::string(call.script) + " removed the live waiter " + waiter);
        }
    }

    // I5: a renewal extends its own hold, and creates none.
    void check_renewal(const lock_record& lock, const executed_command& call,
                       const stored_lock& before) {
        const auto keys = call.keys();
        const auto& present = states_[&lock].present;
        bool is_held = false;
        for (std::size_t i = 0; i < keys.size(); i += 2) {
            if (keys[i] != lock.keys.lock) continue;
            const auto& owner = call.arguments()[2 * i + 1];
            is_held |= present.owners.contains(owner);
            if (present.owners.contains(owner) && !before.owners.contains(owner))
                fail("I5", "a renewal created the hold of " + owner);
        }
        if (!is_held && !present.owners.empty() && present != before)
            fail("I5", "a renewal changed another hold of '" + lock.keys.lock + "'");
    }

    // I6: every release reaches the waiters.
    void expect_grant(const lock_record& lock) {
        if (!reports_releases_to_all(lock)) return;
        after_delivery([this, &lock, freed_at = now()] {
            if (states_[&lock].taken_at >= freed_at) return;
            for (const auto& [id, wait] : facts_.waits)
                if (wait.lock == &lock &&
                    (wait.java_owner.empty() || lock.keys.lock != read_write_name) &&
                    wait.began + 2 * delivery_limit <= freed_at &&
                    facts_.is_awake(*wait.process, 4 * delivery_limit))
                    fail("I6",
                         "the lock '" + lock.keys.lock + "' is free, and a user waits for it");
        });
    }

    std::map<const lock_record*, lock_state> states_;
};

}  // namespace pawl::simulation
