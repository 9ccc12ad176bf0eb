// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The clocks of another program, moved by the test while that program runs: see clock_shim.c.
#pragma once

#include <support/temp_folder.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace support {

// Not thread-safe. Must outlive the programs that use it.
class moved_clock {
public:
    moved_clock();
    ~moved_clock();
    moved_clock(const moved_clock&) = delete;
    moved_clock& operator=(const moved_clock&) = delete;

    // For the program that gets these clocks.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;

    // Programs started during its lifetime have these clocks.
    class for_new_programs {
    public:
        explicit for_new_programs(const moved_clock& clocks);
        ~for_new_programs();
        for_new_programs(const for_new_programs&) = delete;
        for_new_programs& operator=(const for_new_programs&) = delete;
    };

    // Stops the wall clock at this instant, in µs since 1970; 0 lets it run again.
    void freeze_at(std::int64_t us);
    // Moves the wall clock.
    void step(std::chrono::microseconds amount);
    // Sets the rate of the wall clock: 1.5 is half as fast again.
    void set_rate(double rate);
    // How far `step` and `set_rate` have put the wall clock ahead of the system's.
    [[nodiscard]] std::chrono::microseconds wall_offset() const;

    // Sets the boot and monotonic clocks back by `span`: they look as if the machine was paused for
    // that long.
    void suspend_boot_clock(std::chrono::nanoseconds span);

private:
    // The same as in clock_shim.c.
    struct clock_page {
        std::atomic<std::uint64_t> version;
        std::atomic<std::int64_t> wall_is_us;
        std::atomic<std::int64_t> wall_ahead_us;
        std::atomic<std::int64_t> wall_faster_ppm;
        std::atomic<std::int64_t> wall_faster_since_us;
        std::atomic<std::int64_t> boot_behind_ns;
    };
    template <class Change>
    void write(Change change);

    temp_folder folder_;
    clock_page* page_ = nullptr;
};

}  // namespace support
