// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "spi.hpp"

namespace pawl::core {

// This process, for `pawl status`; `command` overrides the program's name.
[[nodiscard]] identity this_process(const std::string& command);

}  // namespace pawl::core
