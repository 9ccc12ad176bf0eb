// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_store.hpp"

namespace pawl::memory {

std::vector<lock_info> lock_store::list(std::string_view prefix, runtime& time) {
    const std::lock_guard lock(mutex_);
    std::vector<lock_info> locks;
    for (auto position = entries_.lower_bound(prefix);
         position != entries_.end() && position->first.starts_with(prefix);) {
        const auto name = position++->first;
        rows rows_of_lock(*this, name, time, {});
        if (rows_of_lock.holders().empty()) continue;
        locks.push_back(core::lease_table(rows_of_lock, rows_of_lock.now()).describe(name));
    }
    return locks;
}

// A test has no clock of its own, so that of the holder's client counts.
bool lock_store::end_holds(std::string_view name, loss_reason reason) {
    const std::lock_guard lock(mutex_);
    const auto position = entries_.find(name);
    if (position == entries_.end() || position->second.holders.empty()) return false;
    const auto client = position->second.holders.front().client.client.lock();
    rows rows_of_lock(*this, name, client ? *client->time : real_runtime(), {}, reason);
    return core::lease_table(rows_of_lock, rows_of_lock.now()).force_release({});
}

void lock_store::end_all_holds(loss_reason reason) {
    std::vector<std::string> names;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, entry] : entries_)
            names.push_back(name);
    }
    for (const auto& each : names)
        end_holds(each, reason);
}

}  // namespace pawl::memory
