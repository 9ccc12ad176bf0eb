// The clocks of another program, moved by the test while it runs: see clock_shim.c.
#pragma once

#include <support/temp_folder.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace support {

// Not thread-safe. Must outlive the programs that it is given to.
class moved_clock {
public:
    moved_clock();
    ~moved_clock();
    moved_clock(const moved_clock&) = delete;
    moved_clock& operator=(const moved_clock&) = delete;

    // For the program whose clocks it is.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;

    // What is started while it lives has these clocks.
    class for_new_programs {
    public:
        explicit for_new_programs(const moved_clock& clocks);
        ~for_new_programs();
        for_new_programs(const for_new_programs&) = delete;
        for_new_programs& operator=(const for_new_programs&) = delete;
    };

    // The wall clock stands at this instant, in µs since 1970.
    void stand_at(std::int64_t us);
    // The wall clock leaps.
    void leap(std::chrono::microseconds by);
    // How fast the wall clock goes from now on: 1.5 is half as fast again.
    void go_at(double rate);
    // By how much the wall clock is ahead of the system's.
    [[nodiscard]] std::chrono::microseconds ahead() const;

    // The clocks that count since the boot stood still for so long, as those of a paused machine.
    void stood_still(std::chrono::nanoseconds how_long);

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
