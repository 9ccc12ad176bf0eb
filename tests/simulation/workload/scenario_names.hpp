// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The names that the programs of a scenario use, their key spaces, and their keys.
#pragma once

#include "../invariants/lock_keys.hpp"
#include "key_space.hpp"
#include "plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

[[nodiscard]] std::vector<key_space> key_spaces_of(const plan& scenario_plan);
[[nodiscard]] std::vector<std::string> names_of(const plan& scenario_plan);
// In Redisson's layout, the keys with the most similar content.
[[nodiscard]] lock_keys keys_in(const key_space& space, std::string_view name);

}  // namespace pawl::simulation
