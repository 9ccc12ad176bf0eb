// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pauses of `elect` before it tries an unavailable service again.
#pragma once

#include <pawl/types.hpp>

#include <algorithm>

namespace pawl::cli {

// The first pause is 1 s. Each later one is twice as long as the one before, but at most 16 s.
class back_off {
public:
    [[nodiscard]] duration next() noexcept {
        const auto current = pause_;
        pause_ = std::min(pause_ * 2, duration(std::chrono::seconds(16)));
        return current;
    }
    // Called when the service was available: the pauses begin again.
    void reset() noexcept { pause_ = std::chrono::seconds(1); }

private:
    duration pause_ = std::chrono::seconds(1);
};

}  // namespace pawl::cli
