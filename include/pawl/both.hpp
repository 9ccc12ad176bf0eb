// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks that are held in two services at once, to move a fleet of programs from one service to
// another without a gap in exclusion: docs/guide/moving.md.
#pragma once

#include <pawl/service.hpp>

#include <cstdint>

namespace pawl {

// Whose fencing tokens the holds have. Tokens of two services cannot be compared.
enum class tokens_of : std::uint8_t {
    first,  // those of the service named first
    second  // those of the service named second
};

// Each hold is one in both services: first in `first`, then in `second`. It is lost when either of
// them has lost it. So it excludes the users of either service, and of both; all of them must name
// the services in the same order. There are exclusive locks, and shared ones if both services have
// them; waiters have no order. Does not connect. Thread-safe.
[[nodiscard]] service both(service first, service second, tokens_of tokens = tokens_of::first);

}  // namespace pawl
