// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules for Redisson's Semaphore. The server has only the number of its free permits and Pawl's
// receipts, so the checker counts the permits that Java takes and returns.
#include "checker.hpp"

#include <algorithm>
#include <utility>

namespace pawl::simulation {
namespace {

std::string receipt_of(const std::string& owner) {
    return "redisson_sc_receipt:{" + std::string(plain_semaphore_name) + "}:" + owner;
}

}  // namespace

bool checker::is_plain_semaphore(const lock_record& lock) {
    return lock.has_permits && lock.keys.lock == plain_semaphore_name;
}

bool checker::has_receipt(const lock_record& lock, const std::string& owner) const {
    return lock.redisson.receipts.contains(receipt_of(owner));
}

// These permits have no lease.
std::optional<instant> checker::semaphore_expiry(const lock_record& lock,
                                                 const user_hold& held) const {
    if (held.handle == nullptr) return instant::max();
    const auto [first, last] = lock.redisson.owners_by_token.equal_range(held.token);
    const bool is_held = std::any_of(
        first, last, [&](const auto& granted) { return has_receipt(lock, granted.second); });
    return is_held ? std::optional(instant::max()) : std::nullopt;
}

void checker::count_permits(lock_record& lock, const redisson_invocation& invocation) {
    auto& counted = lock.redisson;
    const auto arguments = invocation.arguments();
    if (invocation.script.starts_with("redisson/semaphore_")) {
        const auto& receipt = invocation.keys()[1];
        const auto permits = data_of(lock).text_of(receipt);
        counted.receipts.erase(receipt);
        if (!permits.empty() && permits != "0") counted.receipts[receipt] = std::stoll(permits);
    } else if (invocation.script == "java/semaphore_acquire" && invocation.reply.number == 1) {
        counted.java_permits[&invocation.process] += std::stoll(arguments[0]);
    } else if (invocation.script == "java/semaphore_release") {
        counted.java_permits[&invocation.process] -= std::stoll(arguments[0]);
    }
}

void checker::inspect_semaphore(lock_record& lock, const redisson_invocation& invocation) {
    const auto before = std::exchange(lock.redisson.permits, read_permits(lock));
    count_permits(lock, invocation);
    check_semaphore_total(lock, invocation.script);
    if (invocation.script == "redisson/semaphore_acquire") note_redisson_grant(lock, invocation);
    for (const auto& [id, held] : holds_)
        if (&locks_.at(held.name) == &lock) check_held_at_server(held, "after", invocation.script);
    if (lock.redisson.permits.free > before.free) expect_permit_grant(lock);
}

// I1: no permit is taken or returned twice.
void checker::check_semaphore_total(const lock_record& lock, std::string_view script) {
    const auto& free = lock.redisson.permits.free;
    if (!free) return;
    std::int64_t used = 0;
    for (const auto& [receipt, permits] : lock.redisson.receipts)
        used += permits;
    for (const auto& [process, permits] : lock.redisson.java_permits)
        used += permits;
    if (*free + used != semaphore_permits || *free < 0)
        fail("I1", "after " + std::string(script) + ", " + std::to_string(*free) +
                       " permits are free and " + std::to_string(used) + " are in use");
}

std::int64_t checker::forget_lost_permits(const std::string& name, simulated_process& process) {
    auto& counted = locks_.at(name).redisson;
    auto lost = std::exchange(counted.java_permits[&process], 0);
    if (!dead_processes_.contains(&process)) return lost;
    for (const auto& [owner_or_client, owners_process] : processes_) {
        if (owners_process != &process) continue;
        const auto beginning = receipt_of(owner_or_client);
        lost += forget_receipts(counted.receipts, beginning);
    }
    return lost;
}

std::int64_t checker::forget_receipts(std::map<std::string, std::int64_t>& receipts,
                                      const std::string& beginning) {
    std::int64_t permits = 0;
    for (auto receipt = receipts.lower_bound(beginning);
         receipt != receipts.end() && receipt->first.starts_with(beginning);) {
        permits += receipt->second;
        receipt = receipts.erase(receipt);
    }
    return permits;
}

// At the end, no permit is taken by a living program of Pawl's without a user.
void checker::expect_no_receipts(const std::string& name, const lock_record& lock) {
    for (const auto& [client, process] : processes_)
        if (!dead_processes_.contains(process) && has_receipts_of(lock, client))
            fail("I6", "a permit of '" + name + "' stays taken without a user");
}

bool checker::has_receipts_of(const lock_record& lock, const std::string& client) {
    const auto beginning = receipt_of(client);
    const auto receipt = lock.redisson.receipts.lower_bound(beginning);
    return receipt != lock.redisson.receipts.end() && receipt->first.starts_with(beginning);
}

}  // namespace pawl::simulation
