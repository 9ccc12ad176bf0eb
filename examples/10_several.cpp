// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Several locks, all or none: two accounts and a log. Usage: 10_several [URL]
#include <pawl/blocking.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    int savings = 100, current = 0;
    {
        const auto move_money = [&](int amount) {
            // In any order: acquire_all sorts the names, so that two such calls never deadlock.
            const auto both = locks.acquire_all(
                {amount > 0 ? "current" : "savings", amount > 0 ? "savings" : "current", "log"},
                {.ttl = 10s, .wait = 1min});
            savings -= amount;
            current += amount;
            std::cout << amount << " moved under token " << both.token("log") << '\n';
        };
        const std::jthread there([&] { move_money(30); }), back([&] { move_money(-10); });
    }
    auto busy = locks.acquire("log", {.ttl = 10s});
    if (locks.try_acquire_all({"current", "log", "savings"}).owns_lock()) {
        return 1;  // one of them is taken, so none was acquired
    }
    std::cout << "savings " << savings << ", current " << current << '\n';
    return savings == 80 && current == 20 ? 0 : 1;
}
