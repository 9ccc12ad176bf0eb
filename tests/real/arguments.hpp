// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the command lines of the proof and the soak have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace real {

// What is wrong with the command line, as a sentence.
struct bad_usage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct common_settings {
    std::chrono::seconds length;              // how long new faults begin
    std::vector<std::string> environments{};  // empty: all
    std::size_t clients = 4;                  // processes
    std::uint64_t seed = 0;
    std::string html{};  // a file for the report; empty: none
};

// Reads --for, --on, --clients, --seed, --html and the verb's own options. Without a --seed, the
// seed is random. Throws bad_usage, also for a name in --on that is not among `environments`.
using option_readers = std::map<std::string, std::function<void(const std::string& value)>>;
using switches = std::map<std::string, bool*>;  // options without a value
void read_arguments(const std::vector<std::string>& arguments, common_settings& result,
                    const std::vector<std::string>& environments, option_readers own,
                    const switches& own_switches = {});

// "a,b"
[[nodiscard]] std::vector<std::string> list_of(const std::string& text);
// "90s", "5min" or "1h"; `option` is named in the refusal. Throws bad_usage.
[[nodiscard]] std::chrono::seconds time_of(const std::string& option, const std::string& text);
// Opens the report at once: a bad name must not cost a run. An empty path opens nothing. Throws
// bad_usage.
[[nodiscard]] std::ofstream open_page(const std::string& path);

[[nodiscard]] bool contains(const std::vector<std::string>& names, const std::string& name);
// "a, b"
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

}  // namespace real
