// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command line of pawl_real soak.
#pragma once

#include <real/arguments.hpp>
#include <real/servers/environments.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace real::soak {

struct settings {
    std::chrono::seconds length = std::chrono::hours(8);  // of all environments together
    std::vector<std::string> environments{};              // empty: all
    std::chrono::seconds round = std::chrono::minutes(2);
    // From one line of figures to the next.
    std::chrono::seconds line_interval = std::chrono::minutes(1);
    std::size_t clients = 4;  // processes
    std::uint64_t seed = 0;
    std::string html{};            // a file for the report; empty: none
    bool checks_tokens = true;     // the resource refuses smaller tokens
    bool ends_at_failure = false;  // after the first round that breaks a promise
    bool help = false;
};

// Without a --seed, the seed is random. Throws bad_usage.
[[nodiscard]] settings parse_settings(const std::vector<std::string>& arguments);
[[nodiscard]] std::string usage();

// Those of --on, or all; without the ones that cannot be started here, unless they are named. A
// line of `notes` says which are left out, and why. Throws bad_usage.
[[nodiscard]] std::vector<environment_entry> chosen_environments(const settings& options,
                                                                 std::vector<std::string>& notes);

}  // namespace real::soak
