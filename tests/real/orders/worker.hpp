// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A worker: a process that runs the shop's code for the orders that its driver names.
//
// Its stdin has a line for each call: "ORDER", or "ORDER FAULT STEP" with a planned fault, or
// "repair" for the nightly pass. Its stdout has "ready" when it can work, "hit" when the fault
// happens, and then "STATE POLLS REFUSED VALUE" as the answer. A call that waits in a fault goes on
// with the line "go".
#pragma once

#include "faults.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace real::orders {

// How long an attempt keeps others away. A busy machine only makes takeovers more frequent.
inline constexpr std::chrono::milliseconds lease{400};

struct worker_options {
    orders::story story = orders::story::creation;
    std::string without;  // the names of layers
    std::string locks;    // URLs
    std::string database;
    std::uint16_t outside = 0;  // the port of the shop's partners
    std::size_t stripes = 1;    // of the stock
    std::uint64_t number = 0;   // of the process
};

// The arguments of a helper process that runs `run_worker`, and their reader. Empty: they are no
// such arguments.
[[nodiscard]] std::vector<std::string> worker_words(const worker_options& options);
[[nodiscard]] std::optional<worker_options> read_worker_words(
    const std::vector<std::string>& words);

// Returns the exit status for main.
int run_worker(const worker_options& options);

}  // namespace real::orders
