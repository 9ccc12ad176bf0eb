// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: ignoring return
#include <pawl/blocking.hpp>

pawl::fencing_token read(const pawl::blocking::held_lock& held) {
#ifdef MISUSE
    held.token();
#endif
    return held.token();
}
