// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command line of pawl_real proof.
#pragma once

#include <real/arguments.hpp>

#include <string>
#include <vector>

namespace real::proofs {

// Where a hold's token comes from, and whether the resource checks it.
enum class fencing { on, off, naive };
[[nodiscard]] const char* to_string(fencing mode) noexcept;

struct settings : common_settings {
    settings() : common_settings{.length = std::chrono::minutes(1)} {}

    std::vector<fencing> modes{fencing::on, fencing::off, fencing::naive};
    std::vector<std::string> faults;  // empty: all

    [[nodiscard]] bool has_environment(const std::string& name) const;
    [[nodiscard]] bool has_fault(const std::string& name) const;
};

// Throws bad_usage.
[[nodiscard]] settings parse_settings(const std::vector<std::string>& arguments);
[[nodiscard]] std::string usage();

}  // namespace real::proofs
