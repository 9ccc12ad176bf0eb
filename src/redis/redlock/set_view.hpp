// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the standings of the nodes mean for the whole set. Sends nothing.
#pragma once

#include "node_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pawl::redlock {

// The nodes must outlive it.
class set_view {
public:
    explicit set_view(const node_table& nodes) noexcept : nodes_(nodes) {}

    [[nodiscard]] bool has_voters() const {
        return count_voters() >= nodes_.majority() && !has_server_twice();
    }
    // A majority has told its standing, and one of these nodes is a member.
    [[nodiscard]] bool can_be_read() const;
    [[nodiscard]] bool has_server_twice() const;
    [[nodiscard]] std::size_t count_members() const;
    // How many nodes show a hold that may have a majority. Nodes that do not vote may have lost it.
    [[nodiscard]] std::size_t least_views() const;
    // Until when the quarantines last that keep a majority from voting; nothing if it is not them.
    [[nodiscard]] std::optional<time_point> quarantine_end() const;

    // A connected node has lost its data, or must join anew.
    [[nodiscard]] bool needs_repair() const;
    // The nodes that have lost their data cannot join, because too few members are left.
    [[nodiscard]] bool is_lost() const;
    // The nodes have begun a set, of which no node has lost its data, and the first quarantine of
    // some of them has not ended.
    [[nodiscard]] bool is_new_set() const;
    // All nodes have answered, and too few of them are members.
    [[nodiscard]] bool forms_no_set() const;
    // No node that has answered is a member of a set, but not all have answered.
    [[nodiscard]] bool may_be_new() const;
    // No node has a membership.
    [[nodiscard]] bool is_forgotten() const;
    // So many nodes are not connected that no majority is left.
    [[nodiscard]] bool is_away() const;
    // The epoch of the node's latest memory that the others know. A server with a smaller one is a
    // master that the Sentinels have replaced.
    [[nodiscard]] std::uint64_t latest_epoch(std::size_t node) const;

private:
    [[nodiscard]] std::size_t count_voters() const;

    const node_table& nodes_;
};

}  // namespace pawl::redlock
