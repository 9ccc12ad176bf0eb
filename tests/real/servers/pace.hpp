// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How a fault waits: meanwhile clients are killed and paused, and progress is printed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace real {

// The user ended the program.
struct interrupted : std::runtime_error {
    interrupted() : std::runtime_error("interrupted") {}
};

class pace {
public:
    using milliseconds = std::chrono::milliseconds;

    // `meanwhile` is called every few milliseconds; it may throw, which ends the wait.
    pace(std::uint64_t seed, std::function<void()> meanwhile)
        : dice_(seed), meanwhile_(std::move(meanwhile)) {}

    // In [0, count).
    std::size_t pick(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(dice_);
    }
    milliseconds between(milliseconds least, milliseconds most) {
        return milliseconds(
            std::uniform_int_distribution<milliseconds::rep>(least.count(), most.count())(dice_));
    }
    // Lets the fault work for a while.
    void pause(milliseconds least, milliseconds most) {
        const auto end = std::chrono::steady_clock::now() + between(least, most);
        while (std::chrono::steady_clock::now() < end)
            step();
    }
    // Throws std::runtime_error with `effect` if the condition is not met within two minutes.
    void until(const std::function<bool()>& condition, const std::string& effect) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
        while (!condition()) {
            if (std::chrono::steady_clock::now() >= end)
                throw std::runtime_error("the servers do not recover: " + effect);
            step();
        }
    }

private:
    void step() {
        meanwhile_();
        std::this_thread::sleep_for(milliseconds(5));  // between two looks
    }

    std::mt19937_64 dice_;
    std::function<void()> meanwhile_;
};

}  // namespace real
