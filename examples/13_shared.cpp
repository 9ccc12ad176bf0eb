// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Many threads read a price list, and one at a time changes it. A writer becomes a reader, and no
// other writer gets the lock in between. Usage: 13_shared [URL]
#include <pawl/blocking/shared_mutex.hpp>

#include <atomic>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct price_list {
    int apples = 100;
    int pears = 100;  // always equal to apples
};

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    pawl::blocking::shared_mutex price_lock(locks, "prices", {.ttl = 10s});

    price_list prices;
    std::atomic<int> wrong = 0;
    const auto read = [&] {
        for (int i = 0; i < 20; ++i) {
            const std::shared_lock inside(
                price_lock);  // together with other readers, in any process
            if (prices.apples != prices.pears) ++wrong;
        }
    };
    const auto change = [&] {
        for (int i = 0; i < 10; ++i) {
            const std::unique_lock inside(
                price_lock);  // waits for the readers; later readers wait, too
            ++prices.apples;
            ++prices.pears;
        }
    };
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back(read);
        }
        threads.emplace_back(change);
    }

    auto lock = locks.acquire("prices", {.ttl = 10s, .wait = 1min});
    ++prices.apples;
    ++prices.pears;
    lock.downgrade();  // readers may enter now; writers wait for the release
    const auto beside = locks.try_acquire("prices", {.mode = pawl::lock_mode::shared});
    std::cout << "apples " << prices.apples << ", pears " << prices.pears << " under token "
              << lock.token() << '\n';
    return wrong == 0 && prices.pears == 111 && beside ? 0 : 1;
}
