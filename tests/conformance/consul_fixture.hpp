// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "fixtures.hpp"

#include <vector>

namespace tested {

// Consul; nothing in a build without it.
[[nodiscard]] std::vector<backend> consul_backends();

}  // namespace tested
