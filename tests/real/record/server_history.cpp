// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_history.hpp"

#include <algorithm>
#include <map>

namespace real {

namespace {

bool has_common_key(const std::set<std::size_t>& left, const std::set<std::size_t>& right) {
    return std::ranges::any_of(left, [&](std::size_t each) { return right.contains(each); });
}

// The replaced master: of the same keys, with the largest epoch before.
void add_predecessor(failover& promotion, const std::vector<server_period>& history) {
    for (const auto& each : history) {
        const auto& state = each.state;
        const bool is_older = state.is_master && state.epoch < promotion.epoch &&
                              each.from.earliest <= promotion.promoted.latest;
        if (!is_older || !has_common_key(state.keys, promotion.keys)) continue;
        if (!promotion.from.empty() && state.epoch < promotion.epoch_before) continue;
        if (state.epoch > promotion.epoch_before) promotion.retired = {};
        promotion.from = each.server;
        promotion.epoch_before = state.epoch;
        if (state.is_serving && each.until.latest > promotion.retired.latest)
            promotion.retired = each.until;
    }
}

// Another server has been the master of the same keys with a larger epoch, so nobody follows.
bool is_outdated(const server_period& promotion, const std::vector<server_period>& history) {
    return std::ranges::any_of(history, [&](const server_period& each) {
        return each.state.is_master && each.state.epoch > promotion.state.epoch &&
               each.from.latest <= promotion.from.earliest &&
               has_common_key(each.state.keys, promotion.state.keys);
    });
}

}  // namespace

std::vector<failover> failovers_in(const std::vector<server_period>& history) {
    std::map<std::string, std::vector<const server_period*>> servers;
    for (const auto& each : history)
        servers[each.server].push_back(&each);
    std::vector<failover> result;
    for (auto& [server, periods] : servers) {
        std::ranges::sort(periods, {}, [](const auto* each) { return each->from.earliest; });
        const server_state* before = nullptr;
        for (const auto* each : periods) {
            const auto& state = each->state;
            const bool is_promoted = before != nullptr && !before->is_master && state.is_master &&
                                     before->run_id == state.run_id;
            before = &state;
            if (!is_promoted || is_outdated(*each, history)) continue;
            failover promotion{.to = server,
                               .from = {},
                               .epoch = state.epoch,
                               .promoted = each->from,
                               .retired = {},
                               .keys = state.keys};
            add_predecessor(promotion, history);
            result.push_back(std::move(promotion));
        }
    }
    std::ranges::sort(result, {}, [](const failover& each) { return each.promoted.latest; });
    return result;
}

bool is_served(const std::vector<server_period>& history, std::size_t key, std::uint64_t epoch,
               instant when) {
    return std::ranges::any_of(history, [&](const server_period& each) {
        return each.state.is_serving && each.state.epoch == epoch &&
               each.state.keys.contains(key) && each.until.latest >= when;
    });
}

}  // namespace real
