// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "backends.hpp"

namespace cli_test {

std::vector<backend> backends() {
    return {{.name = "Sqlite", .on_redis = false}, {.name = "Redis", .on_redis = true}};
}

}  // namespace cli_test
