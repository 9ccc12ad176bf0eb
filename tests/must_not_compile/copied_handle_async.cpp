// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: use of deleted function|call to implicitly-deleted
#include <pawl/held_lock.hpp>

pawl::held_lock pass(pawl::held_lock held) {
#ifdef MISUSE
    return pawl::held_lock(static_cast<const pawl::held_lock&>(held));
#else
    return held;
#endif
}
