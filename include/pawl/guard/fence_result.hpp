// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The answer of a resource that checks fencing tokens. Standard headers only.
#pragma once

#include <pawl/types.hpp>

namespace pawl::guard {

// True if the write may go on. A token that equals the newest one is accepted, since a holder
// writes often.
struct [[nodiscard]] fence_result {
    bool accepted = false;  // false: a larger token has written
    fencing_token newest;   // the largest token that the resource has accepted so far

    // As `accepted`.
    explicit operator bool() const noexcept { return accepted; }
};

}  // namespace pawl::guard
