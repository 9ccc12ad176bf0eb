// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock that a replica has, too, before the program gets it. Where the service has no replicas,
// such as a file, the program chooses a lock without them.
// Usage: 16_durable [URL]
#include <pawl/blocking.hpp>

#include <iostream>

using namespace std::chrono_literals;

pawl::blocking::held_lock acquire_ledger(pawl::blocking::client& locks) {
    try {
        auto lock = locks.acquire("ledger", {.ttl = 10s, .durable = pawl::durability::replicas(1)});
        std::cout << "a replica has the lock\n";
        return lock;
    } catch (const pawl::error& e) {
        // errc::not_durable: no replica answered in time. The lock is released.
        if (e.reason() != pawl::errc::unsupported) throw;
        std::cout << e.what() << '\n';
        return locks.acquire("ledger", {.ttl = 10s});
    }
}

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    try {
        const auto lock = acquire_ledger(locks);
        std::cout << "token " << lock.token() << '\n';
    } catch (const pawl::error& e) {
        std::cerr << e.what() << '\n';
        return 1;
    }
    return 0;
}
