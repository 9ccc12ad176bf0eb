// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs that can be injected, to measure whether the simulation finds them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace pawl::simulation {

enum class injected_bug : std::uint8_t {
    none,
#define PAWL_BUG(name) name,
#include "injected_bugs.def"
#undef PAWL_BUG
};

inline constexpr std::array injected_bug_names{
#define PAWL_BUG(name) std::pair{injected_bug::name, std::string_view(#name)},
#include "injected_bugs.def"
#undef PAWL_BUG
};

// A loss is reported late, but in time: only lost_data_test.cpp finds the bug, and no scenario.
[[nodiscard]] constexpr bool is_invisible_in_scenarios(injected_bug bug) noexcept {
    return bug == injected_bug::possible_loss_ignored;
}

// The bug is in Redisson's layout, so only its scenarios can find it.
[[nodiscard]] constexpr bool is_of_redisson(injected_bug bug) noexcept {
    return bug >= injected_bug::redisson_release_notifies_nobody;
}

// A command whose connection broke is sent again.
[[nodiscard]] constexpr bool is_resent_after_loss(injected_bug bug) noexcept {
    return bug == injected_bug::resent_after_loss ||
           bug == injected_bug::redisson_resent_after_loss;
}

// The bug ends the process that contains it.
[[nodiscard]] constexpr bool ends_process(injected_bug bug) noexcept {
    return bug == injected_bug::dies_without_memory;
}

}  // namespace pawl::simulation
