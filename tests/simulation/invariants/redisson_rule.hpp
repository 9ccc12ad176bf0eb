// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The base of the rules for the objects of Redisson's layout, which Java programs hold as well.
#pragma once

#include "rule.hpp"

#include <algorithm>
#include <ranges>

namespace pawl::simulation {

class redisson_rule : public rule, public lock_reader {
public:
    using rule::rule;

    void on_lock_executed(lock_record& lock, const executed_command& call) final {
        if (lock.reader == this) inspect(lock, call);
    }
    [[nodiscard]] bool still_has(const lock_record& lock, const released_hold& hold) const final {
        const auto [first, last] = grants_of(lock).equal_range(hold.token);
        // A FencedLock's counter may be lost, and then gives the same token again.
        if (std::distance(first, last) != 1 || hold.mode == lock_mode::shared) return false;
        return has_owner(lock, first->second);
    }

    [[nodiscard]] std::string value_of(const lock_record& /*lock*/) const final { return {}; }

    // What Java's threads leave behind, for the operator: their places in a fair lock's queue, or
    // their permits without a lease.
    [[nodiscard]] virtual std::vector<std::string> abandoned(const lock_record& /*lock*/) const {
        return {};
    }
    // The permits of a Semaphore that the ended program took and that nobody will return. They do
    // not count any more.
    [[nodiscard]] virtual std::int64_t forget_lost_permits(const lock_record& /*lock*/,
                                                           simulated_process& /*process*/) {
        return 0;
    }

protected:
    using grants = std::multimap<std::uint64_t, std::string>;

    virtual void inspect(lock_record& lock, const executed_command& call) = 0;
    // Whether the server has a hold of this owner.
    [[nodiscard]] virtual bool has_owner(const lock_record& lock,
                                         const std::string& owner) const = 0;

    // Pawl's grants of the lock: the owners by token.
    [[nodiscard]] const grants& grants_of(const lock_record& lock) const {
        static const grants none;
        const auto known = grants_.find(&lock);
        return known == grants_.end() ? none : known->second;
    }

    void add_grant(const lock_record& lock, std::uint64_t token, const std::string& owner) {
        grants_[&lock].emplace(token, owner);
    }
    // A client of Pawl's requested the lock. `program`: the key of its program in
    // `processes`.
    void note_request(lock_record& lock, const executed_command& call, const std::string& program) {
        const auto& owner = call.arguments()[0];
        facts_.processes[program] = &call.process;
        if (!call.returned(1)) return;
        const auto token = token_of(call.reply.items.at(1));
        add_grant(lock, token, owner);
        if (token != 0) expect_delivery(lock, call.process, owner, token);
    }

    void note_force(lock_record& lock, const executed_command& call) {
        if (call.script != "redisson/force_release" || !call.returned(1)) return;
        lock.forced_at = now();
        facts_.note_fault(lock);
    }

    // Whether each waiter learns of a release at once. A fair lock's release reaches only the first
    // waiter, which may be dead, stopped, or about to leave. A read-write lock's release may find
    // Java's threads about to sleep: docs/backends/redisson.md.
    [[nodiscard]] bool reports_releases_to_all(const lock_record& lock) const {
        const auto& plan = facts_.scenario_plan;
        const auto disturbs_queue = [](const fault& each) {
            return each.kind == fault_kind::pause || each.kind == fault_kind::crash;
        };
        if (!lock.is_calm() || lock.server->planned.runs_out_of_memory) return false;
        // A waiter whose client has no room for another undo pauses, and tries again later.
        if (plan.limits.max_undos < redis::limits{}.max_undos) return false;
        return lock.keys.lock != fair_name || (plan.behaviour.limits_wait == 0 &&
                                               std::ranges::none_of(plan.faults, disturbs_queue));
    }

    [[nodiscard]] static std::optional<std::int64_t> free_permits(const lock_record& lock) {
        const auto* const free = lock.data().peek<std::string>(lock.keys.lock);
        if (free == nullptr) return std::nullopt;
        return std::stoll(*free);
    }

    // I6: when permits become free, every waiter learns it that needs no more. In Java, a message
    // with the number n wakes n threads, which may be those that need more, so only a program with
    // one waiter is checked.
    void expect_permit_grant(const lock_record& lock) {
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

private:
    static std::uint64_t token_of(const redis::reply& reply) {
        return reply.type == redis::reply::kind::string ? std::stoull(reply.text)
                                                        : static_cast<std::uint64_t>(reply.number);
    }

    // I8: in a calm network, a lock that a client was granted and no user has is released at once.
    void expect_delivery(const lock_record& lock, simulated_process& process,
                         const std::string& owner, std::uint64_t token) {
        if (!lock.is_calm()) return;
        after_delivery([this, &lock, &process, owner, token] {
            if (has_owner(lock, owner) && !lock.granted_tokens.contains({&process, token}) &&
                facts_.is_awake(process, 2 * delivery_limit))
                fail("I8", (lock.has_permits ? "A request" : owner) + " was granted '" +
                               lock.keys.lock +
                               "', and the lock was neither delivered nor released");
        });
    }

    std::map<const lock_record*, grants> grants_;
    std::map<const lock_record*, instant> freed_at_;  // when permits became free
};

// Of an owner, UUID:THREAD.
[[nodiscard]] inline std::string client_of(const std::string& owner) {
    return owner.substr(0, owner.find(':'));
}

[[nodiscard]] inline bool can_make_hold(std::string_view script) {
    return script.starts_with("redisson/") && script.ends_with("acquire");
}

[[nodiscard]] inline bool is_redisson_release(std::string_view script) {
    return script.starts_with("redisson/") && script.ends_with("release") &&
           script != "redisson/force_release";
}

// An undo is a release without an unlock latch, which would be its last key.
[[nodiscard]] inline bool is_undo(const words& command, std::string_view script) {
    return is_redisson_release(script) &&
           !command[2 + std::stoul(command[2])].starts_with("redisson_unlock_latch:");
}

// The owner of permits is 12 random bytes.
[[nodiscard]] inline std::string printable(const std::string& owner) {
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
