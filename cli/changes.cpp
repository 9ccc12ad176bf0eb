#include "changes.hpp"

#include "lock_view.hpp"

#include <algorithm>

namespace pawl::cli {

namespace {

using kind = change::kind;

const holder* find(const std::vector<holder>& all, const holder& what) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const holder& each) {
        return each.owner == what.owner && each.token == what.token;
    });
    return at == all.end() ? nullptr : &*at;
}

void compare_holders(const lock_info& old, const lock_info& now, kind first,
                     std::vector<change>& found) {
    const auto were = holders_of(old);
    const auto are = holders_of(now);
    const bool some_stay = std::any_of(
        are.begin(), are.end(), [&](const holder& each) { return find(were, each) != nullptr; });
    if (are.empty() && !were.empty()) found.push_back({kind::freed, now, {}});
    for (const holder& each : were) {
        if (some_stay && find(are, each) == nullptr) found.push_back({kind::left, now, each});
    }
    kind next = some_stay && first != kind::held ? kind::joined : first;
    for (const holder& each : are) {
        const holder* const before = find(were, each);
        if (before == nullptr) found.push_back({next, now, each});
        if (before != nullptr && before->mode != each.mode)
            found.push_back({kind::downgraded, now, each});
        if (first != kind::held) next = kind::joined;
    }
}

}  // namespace

const char* to_string(change::kind what) noexcept {
    switch (what) {
    case kind::held: return "held";
    case kind::taken: return "taken";
    case kind::joined: return "joined";
    case kind::left: return "left";
    case kind::downgraded: return "downgraded";
    case kind::freed: return "freed";
    case kind::resized: return "resized";
    case kind::waiters: break;
    }
    return "waiters";
}

std::vector<change> change_log::look(const std::vector<lock_info>& locks) {
    std::map<std::string, lock_info> now;
    for (const lock_info& each : locks)
        now.emplace(each.name, each);
    // A lock that the service does not list any more is free, and a semaphore as large as before.
    for (const auto& [name, old] : before_) {
        lock_info free{.name = name, .held_by = {}, .waiters = 0};
        if (old.permits > 0) free.permits = free.free_permits.emplace(old.permits);
        now.emplace(name, std::move(free));
    }

    std::vector<change> found;
    for (const auto& [name, lock] : now) {
        const auto at = before_.find(name);
        const lock_info old =
            at == before_.end() ? lock_info{.name = name, .held_by = {}, .waiters = 0} : at->second;
        compare_holders(old, lock, looked_ ? kind::taken : kind::held, found);
        if (old.waiters != lock.waiters) found.push_back({kind::waiters, lock, {}, old.waiters});
        if (old.permits != lock.permits && old.permits != 0 && lock.permits != 0)
            found.push_back({kind::resized, lock, {}, old.permits});
    }
    std::erase_if(
        now, [](const auto& each) { return !each.second.held_by && each.second.waiters == 0; });
    before_ = std::move(now);
    looked_ = true;
    return found;
}

}  // namespace pawl::cli
