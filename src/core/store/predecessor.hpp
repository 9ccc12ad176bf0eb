// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rule of a store that orders the claims on a lock by itself, holders and waiters alike, such
// as by revisions or sequential nodes. An entry has the lock if it has no blocker. The result is
// the order of service of queue_policy.hpp.
#pragma once

#include "queue_policy.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace pawl::core {

struct blocker {
    std::size_t position = 0;    // of the entry to wait for, until it is gone or changes its mode
    bool or_any_before = false;  // the end of an entry before it may make room, too
};

// The blocker of the entry at `position`; empty if the entry has the lock. `entries` are in the
// store's order. A waiter that `exceeds_total` blocks the entries behind it until it leaves.
[[nodiscard]] std::optional<blocker> blocker_of(std::span<const lock_share> entries,
                                                std::size_t position,
                                                std::uint32_t total_permits) noexcept;

}  // namespace pawl::core
