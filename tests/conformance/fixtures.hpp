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
// Those with fewer capabilities: only the conformance suite runs. They are Redis without scripts,
// ShedLock's table, and databases whose sessions have the locks.
[[nodiscard]] std::vector<backend> limited_backends();

}  // namespace tested
