// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Errors after which the same request may succeed later.
#pragma once

#include <pawl/error.hpp>

namespace pawl::core {

// The service answered that it cannot serve anybody now.
[[nodiscard]] inline bool is_unavailable(const error& failure) noexcept {
    return failure.reason() == errc::unavailable || failure.reason() == errc::no_quorum ||
           failure.reason() == errc::no_set;
}

// The service is away or unavailable.
[[nodiscard]] inline bool is_transient(const error& failure) noexcept {
    return failure.reason() == errc::unreachable || is_unavailable(failure);
}

}  // namespace pawl::core
