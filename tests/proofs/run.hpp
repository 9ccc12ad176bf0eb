// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One run: servers, clients, faults, and the verdict about what was recorded.
#pragma once

#include "checker.hpp"
#include "environments.hpp"
#include "settings.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace proofs {

struct run_result {
    std::string environment;
    fencing mode = fencing::on;
    verdict outcome;
    std::map<std::string, std::size_t> faults;     // how often each was injected
    std::map<std::string, std::string> obstacles;  // faults that cannot be injected here, and why
    // Beyond one for each fault: on a busy machine, servers replace a master that is just slow.
    std::size_t further_failovers = 0;
    std::size_t kills = 0;              // of clients
    std::size_t pauses = 0;             // of clients
    std::size_t errors = 0;             // of acquires
    std::vector<std::string> problems;  // beside the verdict, as sentences
};

// How much of the damage that a run without fencing must show it has shown.
[[nodiscard]] std::size_t damage_of(fencing mode, const verdict& outcome) noexcept;

// Without fencing it goes on until there is damage, at most for a minute longer.
// Prints a line of progress now and then. Throws bad_usage if no server has one of the faults,
// std::runtime_error if the servers do not recover, `interrupted` after SIGINT or SIGTERM.
[[nodiscard]] run_result run(const environment_entry& entry, const settings& options, fencing mode);

}  // namespace proofs
