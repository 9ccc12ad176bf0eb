// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "vote.hpp"

#include <algorithm>
#include <map>

namespace pawl::redis {
namespace {

bool agree(const sentinel_view& a, const sentinel_view& b) {
    return a.master.epoch == b.master.epoch && a.master.server == b.master.server;
}

}  // namespace

std::set<std::string> members(std::span<const sentinel_view* const> views) {
    std::set<std::string> result;
    std::map<std::string, std::size_t> mentions;
    for (const auto* each : views) {
        result.insert(each->id);
        std::set<std::string> ids;
        for (const auto& peer : each->peers)
            ids.insert(peer.id);
        for (const auto& id : ids)
            ++mentions[id];
    }
    for (const auto& [id, count] : mentions)
        if (count * 2 > views.size()) result.insert(id);
    return result;
}

std::size_t majority(std::span<const sentinel_view* const> views, std::size_t configured) {
    return std::max(members(views).size(), configured) / 2 + 1;
}

std::optional<location> elected_master(std::span<const sentinel_view* const> views,
                                       std::size_t configured) {
    // One vote each. A Sentinel that answered at two addresses may have learned of a failover in
    // between.
    std::map<std::string_view, const sentinel_view*> votes;
    for (const auto* each : views) {
        auto& vote = votes.try_emplace(each->id, each).first->second;
        if (each->master.epoch > vote->master.epoch) vote = each;
    }
    const auto needed = majority(views, configured);
    for (const auto& [id, candidate] : votes) {
        const auto count = std::ranges::count_if(
            votes, [&](const auto& vote) { return agree(*candidate, *vote.second); });
        if (static_cast<std::size_t>(count) >= needed) return candidate->master;
    }
    return std::nullopt;
}

}  // namespace pawl::redis
