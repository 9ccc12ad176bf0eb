#include "changes.hpp"

namespace pawl::cli {

namespace {

bool same_hold(const lock_info& a, const lock_info& b) {
    if (!a.held_by || !b.held_by) return !a.held_by && !b.held_by;
    return a.held_by->owner == b.held_by->owner && a.held_by->token == b.held_by->token;
}

}  // namespace

const char* to_string(change::kind what) noexcept {
    switch (what) {
    case change::kind::held: return "held";
    case change::kind::taken: return "taken";
    case change::kind::freed: return "freed";
    case change::kind::waiters: break;
    }
    return "waiters";
}

std::vector<change> change_log::look(const std::vector<lock_info>& locks) {
    using kind = change::kind;
    std::map<std::string, lock_info> now;
    for (const lock_info& each : locks)
        now.emplace(each.name, each);
    // A lock that the service does not list any more is free.
    for (const auto& [name, old] : before_)
        now.emplace(name, lock_info{.name = name, .held_by = {}, .waiters = 0});

    std::vector<change> found;
    for (const auto& [name, lock] : now) {
        const auto at = before_.find(name);
        const lock_info old =
            at == before_.end() ? lock_info{.name = name, .held_by = {}, .waiters = 0} : at->second;
        if (!same_hold(old, lock)) {
            const kind taken = looked_ ? kind::taken : kind::held;
            found.push_back({lock.held_by ? taken : kind::freed, lock, old.waiters});
        }
        if (old.waiters != lock.waiters) found.push_back({kind::waiters, lock, old.waiters});
    }
    std::erase_if(
        now, [](const auto& each) { return !each.second.held_by && each.second.waiters == 0; });
    before_ = std::move(now);
    looked_ = true;
    return found;
}

}  // namespace pawl::cli
