// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The report at the end of a soak.
#pragma once

#include "progress.hpp"
#include "totals.hpp"

#include <string>
#include <vector>

namespace real::soak {

struct report {
    std::vector<totals> all{};         // of the environments that were run, and their failures
    std::vector<std::string> notes{};  // what was not run, and why
    std::uint64_t seed = 0;
};

// As sentences: the notes, the faults that could not be injected, the environments with too few
// rounds to notice leaks, and how to repeat the run.
[[nodiscard]] std::vector<std::string> remarks(const report& result);
[[nodiscard]] std::string text_of(const report& result);
// The same as HTML, with a drawing.
[[nodiscard]] std::string page_of(const report& result, const std::vector<sample>& samples,
                                  const std::vector<fault_mark>& faults);

}  // namespace real::soak
