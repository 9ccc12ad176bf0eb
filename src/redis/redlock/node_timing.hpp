// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How quickly the nodes answer, and which of them are not waited for. Sends nothing.
#pragma once

#include "node_table.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pawl::redlock {

// Used on one strand. The nodes must outlive it.
class node_timing {
public:
    explicit node_timing(const node_table& nodes) : nodes_(nodes), times_(nodes.size()) {}

    // A node that has not answered in time is not waited for until it answers again.
    [[nodiscard]] bool is_silent(std::size_t node) const noexcept {
        return times_[node].silent_from <= nodes_.now();
    }
    // A request to the node is in time until then.
    void expect_answer(std::size_t node, time_point silent_from) noexcept {
        auto& known = times_[node].silent_from;
        known = std::min(known, silent_from);
    }
    void on_answer(std::size_t node) noexcept { times_[node].silent_from = time_point::max(); }
    // When the next node falls silent.
    [[nodiscard]] time_point next_silence() const noexcept;
    // So many nodes are connected and not silent that they are a majority.
    [[nodiscard]] bool has_answering_majority() const noexcept;

    // The node has answered after this time.
    void note_round_trip(std::size_t node, duration round_trip) noexcept;
    // After which a majority of the nodes usually answers; 0: not known.
    [[nodiscard]] duration round_trip_of_majority() const;

private:
    struct times {
        time_point silent_from = time_point::max();
        duration round_trip{};  // smoothed; 0: not known
    };

    const node_table& nodes_;
    std::vector<times> times_;  // of each node
};

}  // namespace pawl::redlock
