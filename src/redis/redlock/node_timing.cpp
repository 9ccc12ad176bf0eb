// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_timing.hpp"

#include <algorithm>

namespace pawl::redlock {

time_point node_timing::next_silence() const noexcept {
    auto result = time_point::max();
    for (const auto& each : times_)
        if (each.silent_from > nodes_.now()) result = std::min(result, each.silent_from);
    return result;
}

bool node_timing::has_answering_majority() const noexcept {
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_.link_of(i).connected() && !is_silent(i)) ++count;
    return count >= nodes_.majority();
}

// Follows a shorter round trip quickly: one answer may be late for a reason of its own.
void node_timing::note_round_trip(std::size_t node, duration round_trip) noexcept {
    auto& known = times_[node].round_trip;
    if (known == duration{})
        known = round_trip;
    else
        known += (round_trip - known) / (round_trip < known ? 2 : 8);
}

duration node_timing::round_trip_of_majority() const {
    std::vector<duration> known;
    for (const auto& each : times_)
        if (each.round_trip > duration{}) known.push_back(each.round_trip);
    if (known.size() < nodes_.majority()) return {};
    const auto last = known.begin() + static_cast<std::ptrdiff_t>(nodes_.majority()) - 1;
    std::ranges::nth_element(known, last);
    return *last;
}

}  // namespace pawl::redlock
