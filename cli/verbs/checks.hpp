// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Checks of the library that the command repeats. The library checks them only after the service
// was selected, and a mistyped option must be reported before the selection prints anything.
#pragma once

#include "verbs.hpp"

#include <string>

namespace pawl::cli {

// Each throws a usage failure if a value is invalid.
void check_name(const std::string& name);
// For `run` and `elect`.
void check_locks(const run_options& options);
// For the service that was selected.
void check_durability(const run_options& options, const service_location& location);

}  // namespace pawl::cli
