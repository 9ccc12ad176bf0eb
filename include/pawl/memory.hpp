// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in the memory of one process, for tests of programs that use Pawl.
#pragma once

#include <pawl/service.hpp>

#include <string>

namespace pawl::memory {

// A new set of locks, all free. Copies of the service share it. The URL is `memory:`. Thread-safe.
[[nodiscard]] service make();

// The set of locks with this name. There is one for each name in the process, from its first use
// until the process ends. The URL is `memory:NAME`. Thread-safe.
[[nodiscard]] service named(const std::string& name);

}  // namespace pawl::memory
