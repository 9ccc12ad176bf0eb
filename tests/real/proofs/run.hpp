// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One run: servers, clients, faults, and the verdict about what was recorded.
#pragma once

#include "settings.hpp"

#include <real/record/checker.hpp>
#include <real/servers/environments.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace real::proofs {

struct run_result {
    std::string environment;
    fencing mode = fencing::on;
    const naive_variant* naive = &naive_tokens;  // of the environment
    verdict outcome;
    // How often each was injected; 0: it was not reached in time.
    std::map<std::string, std::size_t> faults;
    std::map<std::string, std::string> obstacles;  // faults that cannot be injected here, and why
    std::vector<std::string> evidence;             // each failover, and what it allows
    std::size_t kills = 0;                         // of clients
    std::size_t pauses = 0;                        // of clients
    std::size_t errors = 0;                        // of acquires
    std::vector<std::string> problems;             // beside the verdict, as sentences
};

// How much of the damage that a run without fencing must show it has shown.
[[nodiscard]] std::size_t damage_of(fencing mode, const naive_variant& naive,
                                    const verdict& outcome) noexcept;

// New faults begin during the chosen time. Without fencing the run goes on until there is damage,
// at most for a minute longer. Prints a line of progress now and then. The environment has one of
// the chosen faults at least. Throws std::runtime_error if the servers do not recover,
// `interrupted` after SIGINT or SIGTERM.
[[nodiscard]] run_result run(const environment_entry& entry, const settings& options, fencing mode);

// The verb. Returns the exit status for main; a wrong command line is bad_usage.
int run_verb(const std::vector<std::string>& arguments);

}  // namespace real::proofs
