// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: cannot convert|could not convert|no viable conversion|no matching
#include <pawl/blocking.hpp>

using namespace std::chrono_literals;

void take(pawl::blocking::client& locks) {
    const auto held = locks.try_acquire("it", {.ttl = 10s});
#ifdef MISUSE
    const auto wrong = locks.try_acquire("it", "10s");
#endif
}
