// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pauses of `elect` before it tries an unavailable service again.
#pragma once

#include <pawl/types.hpp>

#include <algorithm>

namespace pawl::cli {

// The next pause: first 1 s, then twice as long each time, at most 16 s.
class back_off {
public:
    [[nodiscard]] duration next() noexcept {
        const auto now = pause_;
        pause_ = std::min(pause_ * 2, duration(std::chrono::seconds(16)));
        return now;
    }
    // The service was available: the pauses begin again.
    void reset() noexcept { pause_ = std::chrono::seconds(1); }

private:
    duration pause_ = std::chrono::seconds(1);
};

}  // namespace pawl::cli
