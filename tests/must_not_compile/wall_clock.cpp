// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: no match for|invalid operands
#include <pawl/blocking.hpp>

bool still_mine(const pawl::blocking::held_lock& held) {
#ifdef MISUSE
    return held.safe_until() > std::chrono::system_clock::now();  // a clock that jumps
#else
    return held.safe_until() > pawl::boot_clock::now();
#endif
}
