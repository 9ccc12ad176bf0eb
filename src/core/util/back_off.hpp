// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pauses between repetitions. Each is longer than the one before, with jitter, so that clients
// that were refused at the same time do not return at the same time.
#pragma once

#include "random.hpp"

#include <algorithm>

namespace pawl::core {

struct pause_lengths {
    duration first{};
    duration longest{};
    double growth = 2;
};

class back_off {
public:
    // `source` gives the random numbers, and must outlive the object.
    back_off(runtime& source, const pause_lengths& lengths) noexcept
        : source_(source), lengths_(lengths) {}

    // A random pause between half a step and one step. Then the step grows.
    [[nodiscard]] duration next_pause() {
        const auto pause = random_between(source_, step_ / 2, step_);
        const auto next = static_cast<double>(step_.count()) * lengths_.growth;
        step_ = next < static_cast<double>(lengths_.longest.count())
                    ? duration(static_cast<duration::rep>(next))
                    : lengths_.longest;
        return pause;
    }
    void reset() noexcept { step_ = lengths_.first; }

private:
    runtime& source_;
    const pause_lengths lengths_;
    duration step_ = lengths_.first;
};

}  // namespace pawl::core
