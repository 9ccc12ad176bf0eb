// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "predecessor.hpp"

#include <algorithm>
#include <iterator>

namespace pawl::core {

std::optional<blocker> blocker_of(std::span<const lock_share> entries, std::size_t position,
                                  std::uint32_t total_permits) noexcept {
    if (position == 0) return std::nullopt;
    const auto& own = entries[position];
    const auto before = entries.first(position);
    if (own.mode == lock_mode::exclusive) return blocker{position - 1};
    // Entries of the same mode may have the lock together, so those of others are the obstacle.
    const auto last_other = std::find_if(before.rbegin(), before.rend(),
                                         [&](const auto& each) { return each.mode != own.mode; });
    if (last_other != before.rend())
        return blocker{static_cast<std::size_t>(std::distance(last_other, before.rend())) - 1};
    if (occupancy_of(before).admits(own, total_permits)) return std::nullopt;
    return blocker{position - 1, true};
}

}  // namespace pawl::core
