// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Names by which processes of `pawl run` find each other.
#pragma once

namespace pawl::cli {

// The name of the lock process in ps.
inline constexpr const char* lock_process_name = "lock-process";
// The variable in the environment of the command's processes by which they are found.
inline constexpr const char* run_variable_name = "PAWL_RUN";

}  // namespace pawl::cli
