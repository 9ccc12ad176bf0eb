// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Servers that refuse to run as root run as the user `postgres`, or as `nobody`.
#pragma once

#include "machine.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace support {

// The command line that runs `words` as that user; `words` if this process is not root. The process
// then still dies with the thread that launched it.
[[nodiscard]] std::vector<std::string> as_server_user(std::vector<std::string> words);
// Gives a folder and its content to that user. Nothing if this process is not root.
void give_to_server_user(const std::filesystem::path& folder);
// Runs the program as that user until it ends. Throws std::runtime_error with the program's output
// if it fails.
void run_as_server_user(const std::vector<std::string>& words, const machine& where = {});

}  // namespace support
