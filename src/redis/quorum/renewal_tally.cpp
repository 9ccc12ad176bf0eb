// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "renewal_tally.hpp"

#include <algorithm>

namespace pawl::redlock {

renewal::outcome renewal_tally::count(std::span<const membership_state> members, std::size_t node,
                                      renewal::outcome answer) {
    const auto majority = majority_of(members.size());
    if (answer == renewal::outcome::refused) {
        ++refused_;
        // A majority can no longer extend it.
        if (refused_ > members.size() - majority) return renewal::outcome::refused;
    }
    if (answer != renewal::outcome::extended) return renewal::outcome::unknown;
    extended_by_.push_back(node);
    const auto is_outdated = [&](std::size_t each) {
        return std::ranges::any_of(extended_by_, [&](std::size_t other) {
            return has_heard_of_later(members[other], each, members[each]);
        });
    };
    const auto outdated =
        static_cast<std::size_t>(std::ranges::count_if(extended_by_, is_outdated));
    has_outdated_ = has_outdated_ || outdated > 0;
    return extended_by_.size() - outdated >= majority ? renewal::outcome::extended
                                                      : renewal::outcome::unknown;
}

}  // namespace pawl::redlock
