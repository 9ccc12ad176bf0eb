// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "totals.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace real::soak {

namespace {

// Less is the noise of an allocator, and of connections that are made anew.
constexpr std::size_t memory_slack = std::size_t{4} << 20U;
constexpr std::size_t descriptor_slack = 8;

std::vector<std::size_t> values_of(const std::vector<process_figures>& figures,
                                   std::size_t process_figures::*field) {
    std::vector<std::size_t> values;
    for (const auto& each : figures)
        values.push_back(each.*field);
    return values;
}

}  // namespace

std::size_t totals::fault_count() const noexcept {
    std::size_t count = 0;
    for (const auto& [name, times] : faults)
        count += times;
    return count;
}

void add_round(totals& sum, const verdict& outcome, const journal_counts& load) {
    ++sum.rounds;
    sum.load += load;
    for (const auto& row : load_rows)
        sum.outcome.*row.count += outcome.*row.count;
    for (const auto& row : promised_rows)
        sum.outcome.*row.count += outcome.*row.count;
    for (const auto& row : loss_rows)
        sum.outcome.*row.count += outcome.*row.count;
    for (std::size_t i = 0; i < allowed_rows.size(); ++i)
        sum.allowed[i] += outcome.allowed(allowed_rows[i].count);
    sum.failovers = outcome.allowances.size();  // of all rounds so far
}

bool has_grown(const std::vector<std::size_t>& values, std::size_t slack) {
    const auto third = static_cast<std::ptrdiff_t>(values.size() / rounds_for_leaks);
    if (third == 0) return false;
    return *std::min_element(values.end() - third, values.end()) >
           *std::max_element(values.begin(), values.begin() + third) + slack;
}

std::vector<std::string> leaks(const totals& sum) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < sum.figures.size(); ++i) {
        const auto memory = values_of(sum.figures[i], &process_figures::resident_bytes);
        const auto descriptors = values_of(sum.figures[i], &process_figures::descriptors);
        const auto during = " in " + std::to_string(memory.size()) + " rounds.";
        const auto client = " of client " + std::to_string(i) + " grew from ";
        if (has_grown(memory, memory_slack))
            all.push_back("The memory" + client + mebibytes(memory.front()) + " to " +
                          mebibytes(memory.back()) + " MiB" + during);
        if (has_grown(descriptors, descriptor_slack))
            all.push_back("The open descriptors" + client + std::to_string(descriptors.front()) +
                          " to " + std::to_string(descriptors.back()) + during);
    }
    return all;
}

int exit_status(const std::vector<totals>& all) noexcept {
    const bool is_checked =
        std::ranges::any_of(all, [](const totals& each) { return each.rounds != 0; });
    const bool has_failed =
        std::ranges::any_of(all, [](const totals& each) { return !each.failures.empty(); });
    return is_checked && !has_failed ? 0 : 1;
}

std::string mebibytes(std::size_t bytes) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << static_cast<double>(bytes) / (1U << 20U);
    return text.str();
}

}  // namespace real::soak
