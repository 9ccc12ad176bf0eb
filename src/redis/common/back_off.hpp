// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pauses before a request is repeated. Each is twice as long as the one before, with jitter, so
// that clients that were refused at the same time do not return at the same time.
#pragma once

#include "limits.hpp"

#include "../../core/util/random.hpp"

#include <algorithm>

namespace pawl::redis {

class back_off {
public:
    back_off(runtime& clock, const limits& bounds) noexcept
        : clock_(clock), first_(bounds.first_pause), longest_(bounds.longest_pause) {}

    // A random pause between half a step and one step. Then the step doubles.
    [[nodiscard]] duration next_pause() {
        const auto pause = core::random_between(clock_, step_ / 2, step_);
        step_ = std::min(step_ * 2, longest_);
        return pause;
    }
    void reset() noexcept { step_ = first_; }

private:
    runtime& clock_;
    const duration first_, longest_;
    duration step_ = first_;
};

}  // namespace pawl::redis
