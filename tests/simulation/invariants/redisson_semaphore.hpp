// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for Redisson's Semaphore. The server has only the number of its free permits and Pawl's
// receipts, so this rule counts the permits that Java takes and returns.
#pragma once

#include "redisson_rule.hpp"

#include <algorithm>
#include <utility>

namespace pawl::simulation {

// Those of one owner, or the beginning of those of a client.
std::string receipt_of(const std::string& owner) {
    return "redisson_sc_receipt:{" + std::string(plain_semaphore_name) + "}:" + owner;
}

class redisson_semaphore_rule final : public redisson_rule {
public:
    using redisson_rule::redisson_rule;

    void on_data_changed(const checked_server& /*server*/) override {
        for (const auto& [name, lock] : facts_.locks)
            if (lock.reader == this) counts_[&lock].free = free_permits(lock);
    }

    // No permit is taken by a living program of Pawl's without a user.
    void check_no_locks() override {
        for (const auto& [name, lock] : facts_.locks) {
            if (lock.reader != this) continue;
            const auto& receipts = counts_[&lock].receipts;
            for (const auto& [client, process] : facts_.processes) {
                const auto beginning = receipt_of(client);
                const auto receipt = receipts.lower_bound(beginning);
                if (!facts_.dead_processes.contains(process) && receipt != receipts.end() &&
                    receipt->first.starts_with(beginning))
                    fail("I6", "a permit of '" + name + "' stays taken without a user");
            }
        }
    }

    // These permits have no lease.
    std::optional<instant> expiry_of(const user_hold& held) const override {
        if (held.handle == nullptr) return instant::max();
        const auto [first, last] = grants_of(*held.lock).equal_range(held.token);
        for (auto granted = first; granted != last; ++granted)
            if (has_owner(*held.lock, granted->second)) return instant::max();
        return std::nullopt;
    }

    std::int64_t forget_lost_permits(const lock_record& lock, simulated_process& process) override {
        auto& counted = counts_[&lock];
        auto lost = std::exchange(counted.java_permits[&process], 0);
        if (!facts_.dead_processes.contains(&process)) return lost;
        for (const auto& [client, clients_process] : facts_.processes) {
            if (clients_process != &process) continue;
            const auto beginning = receipt_of(client);
            for (auto receipt = counted.receipts.lower_bound(beginning);
                 receipt != counted.receipts.end() && receipt->first.starts_with(beginning);) {
                lost += receipt->second;
                receipt = counted.receipts.erase(receipt);
            }
        }
        return lost;
    }

private:
    // `free`: at the last inspection. The permits that Pawl has taken, by receipt, and those of
    // Java's programs.
    struct permit_counts {
        std::optional<std::int64_t> free{};
        std::map<std::string, std::int64_t> receipts{};
        std::map<const simulated_process*, std::int64_t> java_permits{};
    };

    bool has_owner(const lock_record& lock, const std::string& owner) const override {
        const auto counted = counts_.find(&lock);
        return counted != counts_.end() && counted->second.receipts.contains(receipt_of(owner));
    }

    void inspect(lock_record& lock, const executed_command& call) override {
        auto& counted = counts_[&lock];
        const auto before = std::exchange(counted.free, free_permits(lock));
        count(counted, lock, call);
        check_total(counted, call.script);
        if (call.script == "redisson/semaphore_acquire")
            note_request(lock, call, client_of(call.arguments()[0]));
        check_all_at_server(lock, call);
        if (counted.free > before) expect_permit_grant(lock);
    }

    static void count(permit_counts& counted, const lock_record& lock,
                      const executed_command& call) {
        const auto arguments = call.arguments();
        if (call.script.starts_with("redisson/semaphore_")) {
            const auto& receipt = call.keys()[1];
            const auto permits = lock.data().text_of(receipt);
            counted.receipts.erase(receipt);
            if (!permits.empty() && permits != "0") counted.receipts[receipt] = std::stoll(permits);
        } else if (call.script == "java/semaphore_acquire" && call.reply.number == 1) {
            counted.java_permits[&call.process] += std::stoll(arguments[0]);
        } else if (call.script == "java/semaphore_release") {
            counted.java_permits[&call.process] -= std::stoll(arguments[0]);
        }
    }

    // I1: no permit is taken or returned twice.
    void check_total(const permit_counts& counted, std::string_view script) {
        if (!counted.free) return;
        std::int64_t used = 0;
        for (const auto& [receipt, permits] : counted.receipts)
            used += permits;
        for (const auto& [process, permits] : counted.java_permits)
            used += permits;
        if (*counted.free + used != semaphore_permits || *counted.free < 0)
            fail("I1", "after " + std::string(script) + ", " + std::to_string(*counted.free) +
                           " permits are free and " + std::to_string(used) + " are in use");
    }

    std::map<const lock_record*, permit_counts> counts_;
};

}  // namespace pawl::simulation
