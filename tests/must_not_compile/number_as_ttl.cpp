// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: .*write 30s or 500ms
#include <pawl/options.hpp>

using namespace std::chrono_literals;

pawl::lock_options short_lease() {
#ifdef MISUSE
    return {.ttl = 30};  // seconds? milliseconds?
#else
    return {.ttl = 30s};
#endif
}
