// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace support {

// Waits until the condition is true; false when it was not within `timeout`, which a busy machine
// must not reach.
[[nodiscard]] inline bool eventually(const std::function<bool()>& condition,
                                     std::chrono::nanoseconds timeout = std::chrono::seconds(30)) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace support
