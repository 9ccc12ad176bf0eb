// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One run of the experiment: workers carry out the orders of a program while processes and services
// fail, all ends, what is half done is repaired, and an auditor reads what is stored.
#pragma once

#include "audit.hpp"
#include "faults.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace real::orders {

struct run_options {
    orders::story story = orders::story::creation;
    std::string without;         // the names of the layers that are missing; empty: none is
    bool is_synchronous = true;  // false: a failover loses the database's last commits
    std::size_t orders = 0;
    std::uint64_t seed = 0;
};

struct run_result {
    run_options options;
    std::vector<audit_rule> rules;
    std::array<std::size_t, fault_cases.size()> hits{};  // as in `fault_cases`
    std::map<std::string, std::size_t> nemeses;          // those that are not planned for an order
    std::size_t calls = 0;
    vain_work vain;
    std::chrono::seconds time{};

    // What the auditor found, all together.
    [[nodiscard]] std::size_t damage() const;
};

// `progress` is called with the number of orders that are carried out. Throws std::runtime_error if
// the experiment itself fails.
[[nodiscard]] run_result run(const run_options& options,
                             const std::function<void(std::size_t)>& progress);

}  // namespace real::orders
