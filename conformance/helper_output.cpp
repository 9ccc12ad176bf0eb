// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "helper_output.hpp"

#include <unistd.h>

namespace pawl::conformance {

void write_line(const std::string& line) {
    const std::string line_with_end = line + "\n";
    if (::write(STDOUT_FILENO, line_with_end.data(), line_with_end.size()) < 0) ::_exit(1);
}

std::string word(lock_state state) {
    constexpr const char* words[] = {"held", "at_risk", "lost", "released"};
    return words[static_cast<std::size_t>(state)];
}

std::string word(release_result result) {
    constexpr const char* words[] = {"released", "expired", "taken_over", "unknown", "still_held"};
    return words[static_cast<std::size_t>(result)];
}

}  // namespace pawl::conformance
