// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The messages that `pawl run` prints while it waits for a lock.
#pragma once

#include "../verbs/verbs.hpp"

#include <pawl/blocking.hpp>

#include <stop_token>

namespace pawl::cli {

// After a second, prints the holder of the lock once. Returns early if `stop` is requested.
void explain_wait(blocking::client& locks, const run_options& options, const std::stop_token& stop);

// Throws errc::deadlock if a `pawl run` around this one holds the lock in a conflicting mode,
// because each would wait for the other. Returns if none does, or if the service is unavailable or
// does not know the holder's process.
void refuse_wait_for_ancestor(blocking::client& locks, const run_options& options);

}  // namespace pawl::cli
