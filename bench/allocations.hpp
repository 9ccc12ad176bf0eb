// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <cstdint>

namespace bench {

// The calls of operator new by this thread so far.
[[nodiscard]] std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace bench
