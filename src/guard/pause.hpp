// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Pauses of a thread.
#pragma once

#include <pawl/types.hpp>

#include <stop_token>

namespace pawl::guard {

// Returns after this time, or earlier after a stop.
void pause_until_stop(duration time, const std::stop_token& stop);
// As before, but throws errc::cancelled after a stop.
void pause_for(duration time, const std::stop_token& cancel);

}  // namespace pawl::guard
