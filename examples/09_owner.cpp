// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock that its owner can acquire again, in any thread. Usage: 09_owner [URL]
#include <pawl/blocking.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

// If the owner holds the ledger already, this acquire sends no request. Other owners wait.
int add(pawl::blocking::lock_owner owner, int& ledger, int amount) {
    const auto lock = owner.acquire("ledger", {.ttl = 10s, .wait = 1min});
    return ledger += amount;
}

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    pawl::blocking::lock_owner clerk(locks), auditor(locks);
    int ledger = 0;
    {
        auto day = clerk.acquire("ledger", {.ttl = 10s, .wait = 1min});
        add(clerk, ledger, 3);
        std::jthread([&] { add(clerk, ledger, 4); }).join();  // another thread, the same owner
        if (auditor.try_acquire("ledger").owns_lock()) {
            return 1;  // a different owner, although of the same client
        }
        std::cout << "balance " << ledger << " under token " << day.token() << '\n';
    }
    const auto audit = auditor.acquire("ledger", {.ttl = 10s, .wait = 1min});
    std::cout << "audited under token " << audit.token() << '\n';
    return ledger == 7 ? 0 : 1;
}
