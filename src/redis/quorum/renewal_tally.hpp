// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Decides from the nodes' answers of one round whether a hold is extended. It sends nothing and
// reads no clock.
#pragma once

#include "ballot.hpp"

#include <pawl/spi/backend.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace pawl::redlock {

class renewal_tally {
public:
    // Counts a node's answer. `members` are the states of all nodes, as far as they have answered
    // in this round. Returns `extended` or `refused` when that is decided, and `unknown` before.
    renewal::outcome count(std::span<const membership_state> members, std::size_t node,
                           renewal::outcome answer);
    // A node that answered has forgotten what its answer is about, as another one has heard. With
    // plain servers such a node refuses; an old master that its Sentinels have replaced does not.
    [[nodiscard]] bool has_outdated() const noexcept { return has_outdated_; }

private:
    std::vector<std::size_t> extended_by_;
    std::size_t refused_ = 0;
    bool has_outdated_ = false;
};

}  // namespace pawl::redlock
