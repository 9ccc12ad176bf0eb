// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "fixtures.hpp"

#include <vector>

namespace tested {

[[nodiscard]] std::vector<backend> zookeeper_backends();

}  // namespace tested
