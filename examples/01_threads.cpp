// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Four threads, one client, one lock. Usage: 01_threads [URL]
#include <pawl/blocking.hpp>

#include <iostream>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));

    int visits = 0;  // a plain int: only the lock keeps the threads apart
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 25; ++i) {
                auto lock = locks.acquire("visits", {.ttl = 10s, .wait = 1min});
                ++visits;
            }  // released here, on every path
        });
    }
    for (auto& each : threads) {
        each.join();
    }
    std::cout << "visits: " << visits << '\n';

    // One attempt: the handle is empty if another caller holds the lock. That is no error.
    auto report_lock = locks.acquire("report/nightly");
    if (auto second = locks.try_acquire("report/nightly"); !second) {
        std::cout << "another process writes report/nightly\n";
    }
    std::cout << "token " << report_lock.token()
              << ", release: " << to_string(report_lock.release()) << '\n';

    const pawl::statistics so_far = locks.statistics();
    std::cout << so_far.grants << " locks with " << so_far.requests << " requests; "
              << so_far.losses + so_far.late_releases << " lost\n";  // investigate each of them
    return visits == 100 ? 0 : 1;
}
