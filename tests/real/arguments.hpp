// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the command lines of the proof and the soak have in common. All throw bad_usage.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace real {

// What is wrong with the command line, as a sentence.
struct bad_usage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// "a,b"
[[nodiscard]] std::vector<std::string> list_of(const std::string& text);
// "90s", "5min" or "1h"; `option` is named in the refusal.
[[nodiscard]] std::chrono::seconds time_of(const std::string& option, const std::string& text);
[[nodiscard]] std::uint64_t seed_of(const std::string& text);
[[nodiscard]] std::size_t clients_of(const std::string& text);
// Opens the report at once: a bad name must not cost a run. An empty path opens nothing.
[[nodiscard]] std::ofstream open_page(const std::string& path);
// Refuses a name that is not among these.
void check_environment(const std::string& name, const std::vector<std::string>& known);

[[nodiscard]] bool contains(const std::vector<std::string>& names, const std::string& name);
// "a, b"
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

}  // namespace real
