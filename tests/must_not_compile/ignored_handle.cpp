// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: ignoring return
#include <pawl/blocking.hpp>

void take(pawl::blocking::client& locks) {
    const auto held = locks.acquire("it");
#ifdef MISUSE
    locks.acquire("it");  // would be released at once
#endif
}
