#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace support {

// Looks again and again until the effect is there; false when it was not within `bound`.
[[nodiscard]] inline bool eventually(const std::function<bool()>& effect,
                                     std::chrono::nanoseconds bound = std::chrono::seconds(10)) {
    const auto give_up_at = std::chrono::steady_clock::now() + bound;
    while (!effect()) {
        if (std::chrono::steady_clock::now() >= give_up_at) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

}  // namespace support
