// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "changes.hpp"

#include "../ui/lock_view.hpp"

#include <algorithm>

namespace pawl::cli {

namespace {

using kind = change::kind;

const holder* find_holder(const std::vector<holder>& holders, const holder& wanted) {
    const auto position = std::find_if(holders.begin(), holders.end(), [&](const holder& each) {
        return each.owner == wanted.owner && each.token == wanted.token;
    });
    return position == holders.end() ? nullptr : &*position;
}

// `first` is the event of the first new holder.
void compare_holders(const lock_info& old, const lock_info& now, kind first,
                     std::vector<change>& changes) {
    const auto were = holders_of(old);
    const auto are = holders_of(now);
    const bool some_stay = std::any_of(are.begin(), are.end(), [&](const holder& each) {
        return find_holder(were, each) != nullptr;
    });
    if (are.empty() && !were.empty()) changes.push_back({kind::freed, now, {}});
    for (const holder& each : were) {
        if (some_stay && find_holder(are, each) == nullptr)
            changes.push_back({kind::left, now, each});
    }
    kind next = some_stay && first != kind::held ? kind::joined : first;
    for (const holder& each : are) {
        const holder* const before = find_holder(were, each);
        if (before == nullptr) changes.push_back({next, now, each});
        if (before != nullptr && before->mode != each.mode)
            changes.push_back({kind::downgraded, now, each});
        if (first != kind::held) next = kind::joined;
    }
}

}  // namespace

const char* to_string(change::kind event) noexcept {
    switch (event) {
    case kind::held: return "held";
    case kind::acquired: return "taken";
    case kind::joined: return "joined";
    case kind::left: return "left";
    case kind::downgraded: return "downgraded";
    case kind::freed: return "freed";
    case kind::resized: return "resized";
    case kind::waiters: break;
    }
    return "waiters";
}

std::vector<change> change_log::update(const std::vector<lock_info>& locks) {
    std::map<std::string, lock_info> now;
    for (const lock_info& each : locks)
        now.emplace(each.name, each);
    // A lock that the service no longer lists is free. A semaphore keeps its number of permits.
    for (const auto& [name, old] : previous_) {
        lock_info free{.name = name, .held_by = {}, .waiters = 0};
        if (old.permits > 0) free.permits = free.free_permits.emplace(old.permits);
        now.emplace(name, std::move(free));
    }

    std::vector<change> changes;
    for (const auto& [name, lock] : now) {
        const auto position = previous_.find(name);
        const lock_info old = position == previous_.end()
                                  ? lock_info{.name = name, .held_by = {}, .waiters = 0}
                                  : position->second;
        compare_holders(old, lock, has_previous_ ? kind::acquired : kind::held, changes);
        if (old.waiters != lock.waiters) changes.push_back({kind::waiters, lock, {}, old.waiters});
        if (old.permits != lock.permits && old.permits != 0 && lock.permits != 0)
            changes.push_back({kind::resized, lock, {}, old.permits});
    }
    std::erase_if(
        now, [](const auto& each) { return !each.second.held_by && each.second.waiters == 0; });
    previous_ = std::move(now);
    has_previous_ = true;
    return changes;
}

}  // namespace pawl::cli
