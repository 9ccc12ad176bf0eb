// A program learns that its lock is lost, and stops in time. Usage: 06_loss [URL]
#include <pawl/blocking.hpp>

#include <condition_variable>
#include <iostream>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    const pawl::service where = pawl::from_url(argc > 1 ? argv[1] : "memory:");
    pawl::blocking::client worker(where);
    pawl::blocking::client operations(where);

    auto lock = worker.acquire("import", {.ttl = 10s});

    // `lost` is a std::stop_token: hand it to std::jthread, to a condition variable, to your own
    // loop.
    int rows = 0;
    std::mutex guard;
    std::condition_variable_any wake;
    std::jthread import([&, gone = lock.lost()] {
        std::unique_lock hold(guard);
        while (!gone.stop_requested()) {
            ++rows;
            // Wakes at once when the lock is lost, not when the pause is over.
            wake.wait_for(hold, gone, 50ms, [] { return false; });
        }
        std::cout << "stopped after " << rows << " rows\n";
    });

    operations.force_release("import");  // what `pawl release --force import` does
    import.join();

    std::cout << "state: " << to_string(lock.state()) << ", because: " << to_string(lock.why_lost())
              << ", given back: " << to_string(lock.release()) << '\n';
    return lock.state() == pawl::lock_state::lost ? 0 : 1;
}
