// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command line of pawl_real proof.
#pragma once

#include <real/arguments.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace real::proofs {

// Where a hold's token comes from, and whether the resource checks it.
enum class fencing { on, off, naive };
[[nodiscard]] const char* to_string(fencing mode) noexcept;

struct settings {
    std::chrono::seconds length{60};          // how long new faults begin, in each run
    std::vector<std::string> environments{};  // empty: all
    std::vector<fencing> modes{fencing::on, fencing::off, fencing::naive};
    std::vector<std::string> faults{};  // empty: all
    std::size_t clients = 4;            // processes
    std::uint64_t seed = 0;
    std::string html{};  // a file for the table; empty: none
    bool help = false;

    [[nodiscard]] bool has_environment(const std::string& name) const;
    [[nodiscard]] bool has_fault(const std::string& name) const;
};

// Without a --seed, the seed is random. Throws bad_usage.
[[nodiscard]] settings parse_settings(const std::vector<std::string>& arguments);
[[nodiscard]] std::string usage();

}  // namespace real::proofs
