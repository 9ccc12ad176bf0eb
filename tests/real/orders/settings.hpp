// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command line of the experiment with orders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace real::orders {

// As --without: only the runs with all layers.
inline constexpr const char* no_layer = "none";

struct settings {
    std::size_t orders = 5000;  // of each program
    std::uint64_t seed = 0;
    std::size_t seeds = 1;  // of runs with all layers: this one and the following
    std::string without{};  // run this only; empty: all layers, and then without each
    std::string html{};     // a file for the report; empty: none
};

// True: --on names the orders. Throws bad_usage if it also names servers.
[[nodiscard]] bool is_for_orders(const std::vector<std::string>& arguments);
// Without a --seed, the seed is random. Throws bad_usage.
[[nodiscard]] settings parse_settings(const std::vector<std::string>& arguments);
[[nodiscard]] std::string usage();

}  // namespace real::orders
