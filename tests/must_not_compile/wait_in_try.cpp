// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: could not convert|has no non-static data member|does not refer to any field
#include <pawl/options.hpp>

using namespace std::chrono_literals;

pawl::try_options once() {
#ifdef MISUSE
    return {.ttl = 10s, .wait = 1s};  // an attempt does not wait
#else
    return {.ttl = 10s};
#endif
}
