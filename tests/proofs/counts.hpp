// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The counts of a verdict, as the rows of a report.
#pragma once

#include "checker.hpp"

#include <array>

namespace proofs {

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

}  // namespace proofs
