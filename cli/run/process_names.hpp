// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Names by which processes of `pawl run` find each other.
#pragma once

namespace pawl::cli {

// The name of every lock process, also in ps. By it, a run recognises the lock process of a `pawl
// run` within its command, which it neither kills nor reports. At most 15 bytes (PR_SET_NAME).
inline constexpr const char* lock_process_name = "lock-process";
// The variable in the environment of the command's processes by which they are found.
inline constexpr const char* run_variable_name = "PAWL_RUN";

}  // namespace pawl::cli
