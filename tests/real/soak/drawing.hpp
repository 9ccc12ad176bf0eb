// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Holds per minute and memory over time, with the faults, as an SVG drawing.
#pragma once

#include "progress.hpp"

#include <string>
#include <vector>

namespace real::soak {

[[nodiscard]] std::string draw(const std::vector<sample>& samples,
                               const std::vector<fault_mark>& faults);

}  // namespace real::soak
