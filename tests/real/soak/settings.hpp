// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command line of pawl_real soak.
#pragma once

#include <real/arguments.hpp>
#include <real/servers/environments.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace real::soak {

// The length is that of all environments together.
struct settings : common_settings {
    settings() : common_settings{.length = std::chrono::hours(8)} {}

    std::chrono::seconds round = std::chrono::minutes(2);
    // From one line of figures to the next.
    std::chrono::seconds line_interval = std::chrono::minutes(1);
    bool checks_tokens = true;     // the resource refuses smaller tokens
    bool ends_at_failure = false;  // after the first round that breaks a promise
};

// Throws bad_usage.
[[nodiscard]] settings parse_settings(const std::vector<std::string>& arguments);
[[nodiscard]] std::string usage();

// Those of --on, or all if it is empty; without the ones that cannot be started here, unless they
// are named. A line of `notes` says which are left out, and why. Throws bad_usage.
[[nodiscard]] std::vector<environment_entry> chosen_environments(
    const std::vector<std::string>& named, std::vector<std::string>& notes);

}  // namespace real::soak
