// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The kinds of locks in databases, as fixtures of the conformance suite.
#pragma once

#include "fixtures.hpp"

#include <vector>

namespace tested {

// For `all_backends`.
[[nodiscard]] std::vector<backend> lease_databases();
// For `limited_backends`.
[[nodiscard]] std::vector<backend> limited_databases();

}  // namespace tested
