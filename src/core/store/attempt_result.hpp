// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The answer of a store with a queue to one step of an acquire.
#pragma once

#include "../util/spi.hpp"

#include <cstdint>

namespace pawl::core {

struct attempt_result {
    // waiting: the claim is in the queue. not_queued: the lock is taken, and the claim is not in
    // the queue.
    enum class kind : std::uint8_t { granted, waiting, not_queued };
    kind outcome = kind::not_queued;
    // By the client's clock. granted: the end of the lease; else the first end of a lease.
    time_point expires{};
    fencing_token token;         // only if granted
    bool needs_renewal = false;  // granted for the claim window only
    bool is_first = false;       // the first waiter of the queue
};

}  // namespace pawl::core
