// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Decides from the nodes' answers whether a hold is extended, and until when. It sends nothing and
// reads no clock. models/redlock/exclusion.pml has the rule and its counterexamples.
#pragma once

#include "ballot.hpp"
#include "core/util/spi.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace pawl::redlock {

class renewal_tally {
public:
    explicit renewal_tally(std::size_t nodes) : answers_(nodes) {}

    struct answer {
        renewal::outcome outcome = renewal::outcome::unknown;
        time_point sent_at{};  // before the first byte of the request
        // What the node said of itself. Null: it does not vote.
        std::shared_ptr<const membership_state> member{};
    };
    // A later answer of the same node replaces the earlier one.
    void count(std::size_t node, answer given);
    // The node need not be asked again. A refusal may end: the rest of another attempt expires.
    [[nodiscard]] bool has_extended(std::size_t node) const noexcept;

    struct verdict {
        renewal::outcome outcome = renewal::outcome::unknown;
        // With `extended`: when the oldest request was sent whose answer counts. The requests to
        // the nodes may have been sent at different times: a later request is, for the nodes, the
        // same as an earlier one that the network has delayed.
        time_point sent_at{};
    };
    [[nodiscard]] verdict result() const;
    // Another node knows that a node that answered has lost the data that its answer is about.
    // A plain server refuses after such a loss; an old master that was replaced does not.
    [[nodiscard]] bool has_outdated() const;

private:
    [[nodiscard]] bool is_outdated(std::size_t node) const;

    std::vector<std::optional<answer>> answers_;  // of each node
};

}  // namespace pawl::redlock
