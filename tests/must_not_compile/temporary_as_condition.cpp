// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: use of deleted function|attempt to use a deleted function
#include <pawl/blocking.hpp>

bool work(pawl::blocking::client& locks) {
    if (const auto held = locks.try_acquire("it")) return true;
    if (const auto held = locks.try_acquire_all({"it", "that"})) return true;
#ifdef MISUSE
    if (locks.try_acquire("it")) return true;  // released before the first statement
#endif
    return false;
}
