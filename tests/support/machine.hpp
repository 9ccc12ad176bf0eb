// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace support {

// Where a server runs: here, or in a network namespace with an address of its own.
struct machine {
    std::string host = "127.0.0.1";       // the server listens there only
    std::vector<std::string> launcher{};  // words before the program, such as nsenter with options
    std::vector<std::pair<std::string, std::string>> environment{};  // of the server
};

// The command line that runs `words` there.
[[nodiscard]] inline std::vector<std::string> on_machine(const machine& where,
                                                         const std::vector<std::string>& words) {
    auto result = where.launcher;
    result.insert(result.end(), words.begin(), words.end());
    return result;
}

}  // namespace support
