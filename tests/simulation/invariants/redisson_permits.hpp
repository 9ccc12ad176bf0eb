// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for Redisson's PermitExpirableSemaphore.
#pragma once

#include "redisson_rule.hpp"

#include <algorithm>

namespace pawl::simulation {

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

// The ids follow the number of permits, two times, the time of an endless permit, and a command.
std::span<const std::string> requested_ids(const words& command) {
    return std::span(command).subspan(3 + std::stoul(command[2]) + 5);
}

class redisson_permit_rule final : public redisson_rule {
public:
    using redisson_rule::redisson_rule;

    // I9: Java's requests for permits have new ids each.
    void on_sent(simulated_process& process, const words& command,
                 std::string_view script) override {
        if (script != "java/permits_acquire") return;
        for (const auto& id : requested_ids(command)) {
            java_ids_.emplace(id, &process);
            if (!used_java_ids_.insert(id).second)
                fail("I9", "a permit's id of Java was used before");
        }
    }
    void on_answered(const words& command, std::string_view script,
                     const redis::reply* reply) override {
        const bool is_granted = reply != nullptr && reply->text == "OK";
        if (script == "java/permits_acquire" && !is_granted)
            for (const auto& id : requested_ids(command))
                java_ids_.erase(id);
    }
    void on_ended(const user_hold& held) override {
        for (const auto& id : held.permit_ids)
            java_ids_.erase(id);
    }
    void on_crash(const simulated_process& process) override {
        std::erase_if(java_ids_, [&](const auto& permit) { return permit.second == &process; });
    }

    void on_data_changed(const checked_server& /*server*/) override {
        for (const auto& [name, lock] : facts_.locks)
            if (lock.reader == this) permits_[&lock] = read(lock);
    }

    // No permit is lent to a living program of Pawl's without a user.
    void check_no_locks() override {
        for (const auto& [name, lock] : facts_.locks) {
            if (lock.reader != this) continue;
            for (const auto& [id, ends_ms] : read(lock).ends_ms) {
                const auto process = facts_.processes.find(id.substr(0, owner_size));
                if (ends_ms > lock.data().now_ms() && process != facts_.processes.end() &&
                    !facts_.dead_processes.contains(process->second))
                    fail("I6", "a permit of '" + name + "' stays lent without a user");
            }
        }
    }

    std::optional<instant> expiry_of(const user_hold& held) const override {
        const auto& lock = *held.lock;
        if (held.handle == nullptr) return expiry_of_ids(lock, held.permit_ids);
        const auto [first, last] = grants_of(lock).equal_range(held.token);
        for (auto granted = first; granted != last; ++granted)
            if (const auto end = expiry_of_ids(lock, ids_of(granted->second, held.permits)))
                return end;
        return std::nullopt;
    }

    // That no thread has or requests.
    std::vector<std::string> abandoned(const lock_record& lock) const override {
        std::vector<std::string> result;
        for (const auto& [id, ends_ms] : read(lock).ends_ms)
            if (ends_ms >= never_ms && !java_ids_.contains(id)) result.push_back(id);
        return result;
    }

private:
    // A semaphore at the server.
    struct permit_state {
        std::optional<std::int64_t> free{};
        std::map<std::string, std::int64_t> ends_ms{};  // of the lent permits, by id
    };

    static permit_state read(const lock_record& lock) {
        permit_state result{free_permits(lock)};
        if (const auto* const lent = lock.data().peek<store::sorted_set>(lock.keys.details))
            for (const auto& [ends_ms, id] : lent->in_order())
                result.ends_ms[id] = static_cast<std::int64_t>(ends_ms);
        return result;
    }

    bool has_owner(const lock_record& lock, const std::string& owner) const override {
        const auto lent = read(lock).ends_ms;
        const auto first = lent.lower_bound(owner);
        return first != lent.end() && first->first.starts_with(owner);
    }

    // Nothing if one of the permits is not lent any more.
    std::optional<instant> expiry_of_ids(const lock_record& lock,
                                         const std::vector<std::string>& ids) const {
        const auto lent = read(lock).ends_ms;
        auto first_ms = std::numeric_limits<std::int64_t>::max();
        for (const auto& id : ids) {
            const auto permit = lent.find(id);
            if (permit == lent.end()) return std::nullopt;
            first_ms = std::min(first_ms, permit->second);
        }
        if (first_ms <= lock.data().now_ms()) return std::nullopt;
        if (first_ms >= never_ms) return instant::max();
        return facts_.instant_of_server_ms(lock, first_ms);
    }

    void inspect(lock_record& lock, const executed_command& call) override {
        auto& present = permits_[&lock];
        const auto before = std::exchange(present, read(lock));
        check_total(present, call.script);
        if (call.script == "redisson/permits_acquire")
            note_request(lock, call, call.arguments()[0]);
        if (call.script.starts_with("java/")) excuse_early_expiry(lock, call, before);
        if (call.script == "java/permits_update_lease") excuse_late_update(lock, before);
        if (call.script == "redisson/renew") check_renewal(lock, call, before);
        note_force(lock, call);
        check_all_at_server(lock, call);
        if (present.free > before.free) expect_permit_grant(lock);
    }

    // I1: no permit is lent twice, and none is lost.
    void check_total(const permit_state& present, std::string_view script) {
        if (!present.free) return;
        const auto total = *present.free + static_cast<std::int64_t>(present.ends_ms.size());
        if (total != semaphore_permits || *present.free < 0)
            fail("I1", "after " + std::string(script) + ", " + std::to_string(*present.free) +
                           " permits are free and " + std::to_string(present.ends_ms.size()) +
                           " are lent");
    }

    // Java's scripts get the time of Java's request. If the server's clock was set back after the
    // request, they take permits that are still lent.
    void excuse_early_expiry(lock_record& lock, const executed_command& call,
                             const permit_state& before) {
        if (std::ranges::none_of(facts_.scenario_plan.faults, [](const fault& each) {
                return each.kind == fault_kind::clock_backward;
            }))
            return;
        const auto arguments = call.arguments();
        const auto& present = permits_[&lock].ends_ms;
        const bool takes_early = std::ranges::any_of(before.ends_ms, [&](const auto& permit) {
            return !present.contains(permit.first) && permit.second > lock.data().now_ms() &&
                   std::ranges::find(arguments, permit.first) == arguments.end();
        });
        if (takes_early) facts_.note_fault(lock);
    }

    // Redisson repeats an updateLeaseTime without an answer. If it is executed after a newer one,
    // it shortens the lease.
    void excuse_late_update(const lock_record& lock, const permit_state& before) {
        const auto& present = permits_[&lock].ends_ms;
        const auto is_shortened = [&](const std::string& id) {
            const auto old_lease = before.ends_ms.find(id);
            const auto new_lease = present.find(id);
            return old_lease != before.ends_ms.end() && new_lease != present.end() &&
                   new_lease->second < old_lease->second;
        };
        facts_.for_each_hold_of(lock, [&](user_hold& held) {
            if (std::ranges::any_of(held.permit_ids, is_shortened)) facts_.excuse(held);
        });
    }

    // I5: a renewal extends its own permits, and lends none.
    void check_renewal(const lock_record& lock, const executed_command& call,
                       const permit_state& before) {
        const auto keys = call.keys();
        std::set<std::string> owners;
        for (std::size_t i = 0; i < keys.size(); i += 2)
            if (keys[i] == lock.keys.lock) owners.insert(call.arguments()[2 * i + 1]);
        for (const auto& [id, ends_ms] : permits_[&lock].ends_ms) {
            const auto known = before.ends_ms.find(id);
            if (known == before.ends_ms.end())
                fail("I5", "a renewal lent a permit of '" + lock.keys.lock + "'");
            else if (known->second != ends_ms && !owners.contains(id.substr(0, owner_size)))
                fail("I5", "a renewal changed another permit of '" + lock.keys.lock + "'");
        }
    }

    std::map<const lock_record*, permit_state> permits_;  // at the last inspection
    // The permits that threads of living Java programs have or request, with their programs.
    std::map<std::string, const simulated_process*> java_ids_;
    std::set<std::string> used_java_ids_;
};

}  // namespace pawl::simulation
