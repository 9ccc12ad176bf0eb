// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <array>
#include <string>

#include <unistd.h>

namespace pawl::cli {

[[nodiscard]] inline std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

}  // namespace pawl::cli
