// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a soak has shown on one environment.
#pragma once

#include <real/clients/process_figures.hpp>
#include <real/record/checker.hpp>
#include <real/record/counts.hpp>
#include <real/record/journal_counter.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace real::soak {

struct totals {
    std::string environment;
    std::chrono::milliseconds time{};  // since the start of its servers
    std::size_t rounds = 0;            // that were checked
    std::size_t failed_rounds = 0;
    verdict outcome{};      // the sums of all rounds
    journal_counts load{};  // the same
    // What failovers allow, in the order of `allowed_rows`.
    std::array<std::size_t, allowed_rows.size()> allowed{};
    std::size_t failovers = 0;
    std::map<std::string, std::size_t> faults{};     // how often each was injected
    std::map<std::string, std::string> obstacles{};  // faults that cannot be injected, and why
    std::size_t kills = 0;                           // of clients
    std::size_t pauses = 0;                          // of clients
    // Of each client that is never killed, at the end of each round.
    std::vector<std::vector<process_figures>> figures{};
    std::vector<std::string> failures{};  // as sentences; empty: every promise was kept

    [[nodiscard]] std::size_t fault_count() const noexcept;
};

// Adds the counts of a round.
void add_round(totals& sum, const verdict& outcome, const journal_counts& load);

// All values of the last third are above all of the first third by more than `slack`. With fewer
// than three values nothing has grown.
[[nodiscard]] bool has_grown(const std::vector<std::size_t>& values, std::size_t slack);
// The clients whose memory or number of open descriptors has grown, as sentences.
[[nodiscard]] std::vector<std::string> leaks(const totals& sum);
constexpr std::size_t rounds_for_leaks = 3;

// 0 or 1, for main: 1 if a promise was broken, or nothing was checked.
[[nodiscard]] int exit_status(const std::vector<totals>& all) noexcept;

[[nodiscard]] std::string mebibytes(std::size_t bytes);

}  // namespace real::soak
