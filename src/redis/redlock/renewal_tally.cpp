// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "renewal_tally.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace pawl::redlock {

void renewal_tally::count(std::size_t node, answer given) { answers_[node] = std::move(given); }

bool renewal_tally::has_extended(std::size_t node) const noexcept {
    return answers_[node] && answers_[node]->outcome == renewal::outcome::extended;
}

// Judged by all nodes that have extended the hold, also by those that are outdated themselves.
bool renewal_tally::is_outdated(std::size_t node) const {
    if (answers_[node]->member && is_of_another_node(*answers_[node]->member, node)) return true;
    for (std::size_t other = 0; other < answers_.size(); ++other)
        if (has_extended(other) && answers_[other]->member && answers_[node]->member &&
            has_heard_of_later(*answers_[other]->member, node, *answers_[node]->member))
            return true;
    return false;
}

bool renewal_tally::has_outdated() const {
    for (std::size_t node = 0; node < answers_.size(); ++node)
        if (has_extended(node) && is_outdated(node)) return true;
    return false;
}

renewal_tally::verdict renewal_tally::result() const {
    const auto majority = majority_of(answers_.size());
    std::size_t refused = 0;
    std::vector<time_point> sent;  // of the answers that count
    for (std::size_t node = 0; node < answers_.size(); ++node) {
        if (has_extended(node) && !is_outdated(node)) sent.push_back(answers_[node]->sent_at);
        if (answers_[node] && answers_[node]->outcome == renewal::outcome::refused) ++refused;
    }
    // A majority can no longer extend it.
    if (refused > answers_.size() - majority) return {renewal::outcome::refused};
    if (sent.size() < majority) return {};
    const auto oldest = sent.begin() + static_cast<std::ptrdiff_t>(majority) - 1;
    std::ranges::nth_element(sent, oldest, std::ranges::greater{});
    return {renewal::outcome::extended, *oldest};
}

}  // namespace pawl::redlock
