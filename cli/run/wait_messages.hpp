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

// A `pawl run` inside the command of another run never gets the lock of the outer run. Throws
// errc::deadlock in that case. Returns if the service is unavailable or does not know the holder's
// process.
void refuse_wait_for_ancestor(blocking::client& locks, const run_options& options);

}  // namespace pawl::cli
