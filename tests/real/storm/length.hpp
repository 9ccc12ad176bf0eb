// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How long a storm lasts.
#pragma once

#include <chrono>
#include <cstdlib>

namespace real::storm {

// PAWL_STORM_SECONDS, if that is set.
inline std::chrono::seconds length_or(std::chrono::seconds default_length) {
    const char* setting = std::getenv("PAWL_STORM_SECONDS");
    return setting == nullptr ? default_length : std::chrono::seconds(std::atoi(setting));
}

}  // namespace real::storm
