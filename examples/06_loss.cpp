// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A program that stops in time when its lock is lost. Usage: 06_loss [URL]
#include <pawl/blocking.hpp>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    const pawl::service service = pawl::from_url(argc > 1 ? argv[1] : "memory:");
    pawl::blocking::client worker(service);
    pawl::blocking::client operations(service);

    auto lock = worker.acquire("import", {.ttl = 10s});

    // lost() returns a std::stop_token: pass it to a std::jthread, to a condition variable, or to
    // your own loop.
    int rows = 0;
    std::mutex mutex;
    std::condition_variable_any wake;
    std::jthread import([&, lost = lock.lost()] {
        std::unique_lock hold(mutex);
        while (!lost.stop_requested()) {
            ++rows;
            // Returns at once when the lock is lost, not after the pause.
            wake.wait_for(hold, lost, 50ms, [] { return false; });
        }
        std::cout << "stopped after " << rows << " rows\n";
    });

    operations.force_release("import");  // what `pawl release --force import` does
    import.join();

    std::cout << "state: " << to_string(lock.state()) << ", because: " << to_string(lock.why_lost())
              << ", release: " << to_string(lock.release()) << '\n';
    return lock.state() == pawl::lock_state::lost ? 0 : 1;
}
