// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the clocks of the nodes show, and the floor for tokens that follows from it. Sends nothing.
#pragma once

#include "node_table.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace pawl::redlock {

// Used on one strand. The nodes must outlive it.
class node_clocks {
public:
    explicit node_clocks(const node_table& nodes) : nodes_(nodes), readings_(nodes.size()) {}

    // The node has a new connection: its server's clock may be another one.
    void forget(std::size_t node) noexcept { readings_[node].reset(); }
    // The node's clock showed this time after `sent_at`.
    void note_clock(std::size_t node, std::chrono::microseconds shown, time_point sent_at) noexcept;
    // What the node's clock shows at that time of the client's, since 1970, or a little more,
    // although the clocks may differ by 1 in 1000 in speed; never a millisecond less. Empty: not
    // known.
    [[nodiscard]] std::optional<std::chrono::microseconds> clock_of(std::size_t node,
                                                                    time_point when) const noexcept;
    // The smallest counter of a new hold: what the nodes' clocks say. Data of earlier times have
    // smaller ones. The clocks of a minority cannot raise it.
    [[nodiscard]] std::int64_t token_floor() const;
    // By how much the highest token that the node knows is above the nodes' clocks, which are then
    // no floor; 0: not, or not known. Differences that a new set may have do not count.
    [[nodiscard]] std::chrono::seconds tokens_ahead(std::size_t node) const;

private:
    struct clock_reading {
        std::chrono::microseconds shown{};
        time_point sent_at{};
    };

    const node_table& nodes_;
    std::vector<std::optional<clock_reading>> readings_;  // of each node
};

}  // namespace pawl::redlock
