// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs that are injected into the scripts: a part of the text is replaced.
#pragma once

#include "../server/known_scripts.hpp"
#include "injected_bug.hpp"

#include <string>

namespace pawl::simulation {

// The script's text, with the bug if the bug is one of this script or of a part that it includes.
// Throws std::logic_error if the text that the bug replaces is not in the script, or is there
// twice.
[[nodiscard]] std::string inject_script_bug(injected_bug bug, const known_script& script);

// The bounds that the scripts have, which a scenario may make tiny: see _grant_waiters.lua.
struct script_limits {
    int near_waiters = 8;
    int grants_at_once = 256;
};
// Throws std::logic_error if the script has a bound in another form.
[[nodiscard]] std::string with_limits(std::string text, const script_limits& limits);
// Throws std::logic_error if a replacement of a bug fits no script, or several places of one.
void check_script_bugs();

}  // namespace pawl::simulation
