// How long to pause before a request is repeated: twice as long each time, and with jitter, so that
// clients that were refused together do not come back together.
#pragma once

#include "limits.hpp"

#include "../core/chance.hpp"

#include <algorithm>

namespace pawl::redis {

class back_off {
public:
    back_off(runtime& time, const limits& bounds) noexcept
        : time_(time), first_(bounds.first_pause), longest_(bounds.longest_pause) {}

    // Between half of the step and all of it; then the step doubles.
    [[nodiscard]] duration next() {
        const auto pause = core::random_between(time_, step_ / 2, step_);
        step_ = std::min(step_ * 2, longest_);
        return pause;
    }
    void reset() noexcept { step_ = first_; }

private:
    runtime& time_;
    const duration first_, longest_;
    duration step_ = first_;
};

}  // namespace pawl::redis
