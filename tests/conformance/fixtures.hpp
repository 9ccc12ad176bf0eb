// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backends of this project as fixtures of the conformance suite.
#pragma once

#include <pawl/spi/conformance.hpp>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace tested {

struct backend {
    std::string name;
    std::shared_ptr<pawl::conformance::fixture> fixture;
};

inline void PrintTo(const backend& tested, std::ostream* out) { *out << tested.name; }

[[nodiscard]] std::vector<backend> all_backends();
// Redis without scripts, and ShedLock's table. The waiters poll and cannot be seen, so only the
// conformance suite runs.
[[nodiscard]] std::vector<backend> polling_backends();
// Databases whose sessions have the locks: only the conformance suite runs, too.
[[nodiscard]] std::vector<backend> session_backends();

}  // namespace tested
