// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The counts of a verdict, as the rows of a report.
#pragma once

#include "checker.hpp"

#include <array>
#include <string>
#include <vector>

namespace real {

struct count_row {
    const char* label;
    std::size_t verdict::*count;
};

inline constexpr std::array load_rows{
    count_row{"holds", &verdict::holds}, count_row{"writes accepted", &verdict::writes},
    count_row{"holders that learned of their loss", &verdict::told},
    count_row{"holds that the resource refused", &verdict::refused}};

inline constexpr std::array promised_rows{
    count_row{"equal tokens", &verdict::equal_tokens},
    count_row{"tokens that go back", &verdict::tokens_back},
    count_row{"overlapping holds where the table forbids them", &verdict::overlaps},
    count_row{"beliefs after the deadline", &verdict::late_beliefs},
    count_row{"lost updates", &verdict::lost_updates},
    count_row{"writes of an older token after a newer", &verdict::writes_back},
    count_row{"readers that saw two values", &verdict::changed_reads},
    count_row{"refused or overlapping holds, and no holder told", &verdict::untold}};

// Not in the tables: without a broken checker, clock or client they are 0 in all runs.
inline constexpr std::array record_rows{
    count_row{"losses told after the deadline", &verdict::late_losses},
    count_row{"records that cannot be", &verdict::contradictions}};

// The promises that are broken, as sentences; `where` is the end of each, such as " (round 3)".
[[nodiscard]] inline std::vector<std::string> broken_promises(const verdict& outcome,
                                                              const std::string& where = {}) {
    std::vector<std::string> all;
    const auto add = [&](const auto& rows) {
        for (const auto& row : rows)
            if (outcome.*row.count != 0)
                all.push_back("A promise is broken: " + std::to_string(outcome.*row.count) + " " +
                              row.label + where + ".");
    };
    add(promised_rows);
    add(record_rows);
    return all;
}

inline constexpr const char* loss_heading =
    "Allowed when a clock is set forward or a server gets older data";
inline constexpr std::array loss_rows{
    count_row{"overlapping holds", &verdict::overlaps_by_loss},
    count_row{"refused or overlapping holds, not told", &verdict::untold_by_loss},
    count_row{"tokens of readers of the older data", &verdict::readers_back_by_loss}};

struct allowance_row {
    const char* label;
    std::size_t allowance::*count;
};

inline constexpr std::array allowed_rows{
    allowance_row{"overlapping holds of two epochs", &allowance::overlaps},
    allowance_row{"smaller tokens of a replaced master", &allowance::smaller_tokens},
    allowance_row{"holds of a replaced master, not told", &allowance::untold}};

}  // namespace real
