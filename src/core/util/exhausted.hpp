// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The error for a program without threads, descriptors, timers or memory.
#pragma once

#include <pawl/error.hpp>

#include <string>

namespace pawl::core {

[[nodiscard]] inline error exhausted(const std::string& failure, const std::string& cause) {
    return {errc::exhausted,
            failure + " (" + cause +
                "); raise the program's limits (`ulimit -n`, `ulimit -u`), or use fewer clients."};
}

}  // namespace pawl::core
