// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs injected between the topology of a cluster and the links to its nodes, to show that the
// scenarios with a cluster find them.
#pragma once

#include <redis/transport/link.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

namespace pawl::simulation {

enum class cluster_bug : std::uint8_t {
    none,
    epochs_left_out,           // every view has epoch 0, and so have the tokens
    view_never_renewed,        // only the first view of each node is read
    moved_taken_as_refusal,    // the caller gets the error of a slot that has moved
    try_again_taken_as_final,  // the same while a slot moves
};

inline constexpr std::array cluster_bug_names{
    std::pair{cluster_bug::epochs_left_out, "epochs_left_out"},
    std::pair{cluster_bug::view_never_renewed, "view_never_renewed"},
    std::pair{cluster_bug::moved_taken_as_refusal, "moved_taken_as_refusal"},
    std::pair{cluster_bug::try_again_taken_as_final, "try_again_taken_as_final"},
};

// The link with the bug, or the link itself.
[[nodiscard]] std::shared_ptr<redis::link> inject_link_bug(cluster_bug bug,
                                                           std::shared_ptr<redis::link> into);

}  // namespace pawl::simulation
