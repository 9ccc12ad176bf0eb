// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A process that serves customers and triggers: it reads commands from its input, and answers each
// with a line. `orders` starts it as `orders worker …`.
#pragma once

#include "stories.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace shop {

struct worker_options {
    story told = story::orders;
    std::string database_url;
    std::string lock_url;
    std::uint16_t outside_port = 0;
    std::string folder;   // of the run
    std::string without;  // the names of the missing layers

    [[nodiscard]] std::vector<std::string> to_arguments() const;
    // Throws std::invalid_argument.
    static worker_options from_arguments(int argc, char** argv);
};

// How long a dead or stopped process keeps others away.
inline constexpr std::chrono::milliseconds lease{1000};

// Commands: "serve ORDER FAULT", answered by "done", "later" or "failed REASON"; and "repair",
// answered by "night FOUND REPAIRED". A worker that stops itself says "stopping" before.
int run_worker(const worker_options& options);

}  // namespace shop
