// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A latch that opens when three workers have loaded their parts, and a barrier for their phases.
// Usage: 15_latch [URL]
#include <pawl/blocking/latch.hpp>

#include <array>
#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));

    pawl::blocking::latch loaded(locks, "loaded");
    if (!loaded.try_set(3)) {
        return 1;  // the latch is counting: another program loads
    }
    constexpr int phases = 4;
    std::atomic<bool> early = false;
    std::atomic<int> parts = 0;
    std::array<std::atomic<int>, phases> phases_done{};
    const auto worker = [&] {
        ++parts;
        loaded.count_down();  // a worker that dies before this leaves the count unchanged
        pawl::blocking::barrier all(locks, "phase", 3);
        for (auto& arrivals : phases_done) {
            ++arrivals;
            all.arrive_and_wait();  // in any process: three workers have done this phase
            early = early || arrivals != 3;
        }
    };
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back(worker);
        }
        if (!loaded.wait_for(1min)) {  // limited, because a worker may die
            std::cout << "still missing: " << loaded.inspect().count << '\n';
            return 1;
        }
        std::cout << "loaded, " << parts << " parts\n";
    }
    std::cout << phases << " phases" << '\n';
    return early || parts != 3 ? 1 : 0;
}
