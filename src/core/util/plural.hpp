// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Numbers of things in messages.
#pragma once

#include <concepts>
#include <string>

namespace pawl::core {

// "1 replica", "2 replicas".
[[nodiscard]] std::string plural(std::integral auto count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace pawl::core
