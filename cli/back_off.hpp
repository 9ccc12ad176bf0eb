// How long `elect` waits before it asks a service again that is away.
#pragma once

#include <pawl/types.hpp>

#include <algorithm>

namespace pawl::cli {

// 1 s, then twice as long each time, 16 s at most.
class back_off {
public:
    [[nodiscard]] duration next() noexcept {
        const auto now = pause_;
        pause_ = std::min(pause_ * 2, duration(std::chrono::seconds(16)));
        return now;
    }
    // The service was there.
    void reset() noexcept { pause_ = std::chrono::seconds(1); }

private:
    duration pause_ = std::chrono::seconds(1);
};

}  // namespace pawl::cli
