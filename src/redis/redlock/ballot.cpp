// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "ballot.hpp"

#include <algorithm>
#include <utility>

namespace pawl::redlock {

ballot::ballot(std::size_t nodes) : votes_(nodes) {}

void ballot::count_grant(std::size_t node, membership_state member,
                         std::vector<std::int64_t> counters) {
    if (!has_fixed_tokens_) {
        tokens_.resize(counters.size());
        for (std::size_t i = 0; i < counters.size(); ++i)
            tokens_[i] = std::max(tokens_[i], counters[i]);
    }
    votes_[node] = {vote_state::granted, std::move(member), std::move(counters)};
}

void ballot::count_confirmation(std::size_t node, membership_state member) {
    member.nonce = votes_[node].member.nonce;
    votes_[node] = {vote_state::granted, std::move(member), tokens_};
}

bool ballot::agrees(std::size_t node) const noexcept {
    const auto& candidate = votes_[node];
    return candidate.state == vote_state::granted && candidate.counters == tokens_;
}

bool ballot::is_below_tokens(std::size_t node) const noexcept {
    const auto& candidate = votes_[node];
    return candidate.state == vote_state::granted &&
           std::ranges::equal(candidate.counters, tokens_, std::ranges::less_equal{});
}

// Judged by all nodes that agree, also by those that are outdated themselves.
bool ballot::is_outdated(std::size_t node) const noexcept {
    if (is_of_another_node(votes_[node].member, node)) return true;
    for (std::size_t other = 0; other < votes_.size(); ++other)
        if (agrees(other) && has_heard_of_later(votes_[other].member, node, votes_[node].member))
            return true;
    return false;
}

std::size_t ballot::count_quorum() const {
    std::size_t count = 0;
    for (std::size_t node = 0; node < votes_.size(); ++node)
        if (agrees(node) && !is_outdated(node)) ++count;
    return count;
}

std::vector<std::size_t> ballot::outdated_nodes() const {
    std::vector<std::size_t> result;
    for (std::size_t node = 0; node < votes_.size(); ++node)
        if (agrees(node) && is_outdated(node)) result.push_back(node);
    return result;
}

bool ballot::is_lost() const noexcept {
    const auto refused = std::ranges::count(votes_, vote_state::refused, &vote::state);
    return static_cast<std::size_t>(refused) > votes_.size() - majority();
}

bool ballot::has_granted_majority() const noexcept {
    const auto granted = std::ranges::count(votes_, vote_state::granted, &vote::state);
    return static_cast<std::size_t>(granted) >= majority();
}

}  // namespace pawl::redlock
