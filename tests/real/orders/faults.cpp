// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "faults.hpp"

namespace real::orders {

const char* to_string(story which) noexcept {
    switch (which) {
    case story::verification: return "verification";
    case story::sale: return "sale";
    case story::creation: return "creation";
    }
    return "";
}

std::optional<story> story_of(const std::string& name) {
    for (const auto each : every_story)
        if (name == to_string(each)) return each;
    return std::nullopt;
}

// The sale's record is the order itself: without a claim, and committed with the effect.
bool is_possible(story which, const fault_case& fault) noexcept {
    if (which != story::sale) return true;
    return !fault.is_abandoned && fault.at != moment::before_claim &&
           fault.at != moment::after_claim;
}

// Each case comes in turn. The seed says with which order the turns begin.
std::optional<planned_fault> fault_plan::of(std::size_t order) const {
    const auto number = order + static_cast<std::size_t>(seed_ % 1000);
    if (number % interval_ != 0) return std::nullopt;
    const auto turn = number / interval_;
    planned_fault planned{.index = turn % fault_cases.size()};
    if (!is_possible(story_, planned.kind())) return std::nullopt;
    if (story_ == story::creation) planned.step = turn / fault_cases.size() % 2 == 0 ? 1 : 2;
    return planned;
}

}  // namespace real::orders
