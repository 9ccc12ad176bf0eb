// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The interface of the standard mutexes: unique_lock, scoped_lock. Usage: 04_mutex [URL]
#include <pawl/blocking/mutex.hpp>

#include <iostream>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    int savings = 1000;
    int current = 0;

    // Each thread has its own mutex objects, as each process would. They share only the *name*.
    const auto move_money = [&](bool to_current) {
        pawl::blocking::mutex a(locks, "account/savings", {.ttl = 10s});
        pawl::blocking::mutex b(locks, "account/current", {.ttl = 10s});
        for (int i = 0; i < 20; ++i) {
            if (to_current) {
                std::scoped_lock both(a, b);
                savings -= 10;
                current += 10;
            } else {
                std::scoped_lock both(
                    b, a);  // the other order: std::scoped_lock prevents a deadlock here
                savings += 5;
                current -= 5;
            }
        }
    };
    std::thread first(move_money, true);
    std::thread second(move_money, false);
    first.join();
    second.join();

    pawl::blocking::recursive_mutex audit(locks, "audit");
    std::unique_lock outer(audit);
    std::unique_lock inner(audit);  // the same thread again: no request, the same token
    std::cout << "savings " << savings << ", current " << current << ", audited under token "
              << audit.token() << '\n';
    return savings == 900 && current == 100 ? 0 : 1;
}
