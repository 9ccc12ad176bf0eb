// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_clocks.hpp"

#include <algorithm>
#include <functional>

namespace pawl::redlock {

void node_clocks::note_clock(std::size_t node, std::chrono::microseconds shown,
                             time_point sent_at) noexcept {
    if (is_sound_clock(shown.count())) readings_[node] = clock_reading{shown, sent_at};
}

std::optional<std::chrono::microseconds> node_clocks::clock_of(std::size_t node,
                                                               time_point when) const noexcept {
    const auto& reading = readings_[node];
    if (!reading) return std::nullopt;
    const auto passed =
        std::chrono::duration_cast<std::chrono::microseconds>(when - reading->sent_at);
    return reading->shown + passed + passed / 1000;
}

// The largest clock that a majority of the nodes has reached: at least one of them is right while a
// minority is wrong. A floor that is behind the clocks would not be above the tokens of the last
// moments, so it counts the millisecond that the answers to renewals cut off.
std::int64_t node_clocks::token_floor() const {
    std::vector<std::int64_t> shown;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& server = nodes_.link_of(i);
        const bool shows_clock = server.connected() && server.current().time_us > 0;
        if (const auto clock = clock_of(i, nodes_.now()); clock && shows_clock)
            shown.push_back(token_of_clock(clock->count() + 1000));
    }
    if (shown.size() < nodes_.majority()) return 0;
    std::ranges::sort(shown, std::ranges::greater{});
    return shown[nodes_.majority() - 1];
}

std::chrono::seconds node_clocks::tokens_ahead(std::size_t node) const {
    const auto floor = token_floor();
    if (floor == 0 || !nodes_[node].is_member()) return {};
    const auto ahead = time_between(floor, nodes_[node].highest);
    return ahead > most_clock_difference ? ahead : std::chrono::seconds(0);
}

}  // namespace pawl::redlock
