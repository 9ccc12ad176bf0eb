// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <cstdlib>
#include <string>

namespace pawl::cli {

// Empty if the variable is not set.
inline std::string environment_variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace pawl::cli
