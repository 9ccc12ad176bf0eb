// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Parses the command line and runs the verb.
#pragma once

namespace pawl::cli {

// The whole command: parses, hides passwords, runs the verb, reports errors. Returns the exit
// status.
[[nodiscard]] int run_command(int argc, char** argv) noexcept;

}  // namespace pawl::cli
