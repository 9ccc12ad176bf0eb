// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The lock of the README. Usage: 00_first_lock [URL]
#include <pawl/blocking.hpp>

#include <iostream>
#include <string_view>

using namespace std::chrono_literals;

// In place of a database that stores the largest token and refuses smaller ones: see 05_fencing.
void store(int page, pawl::fencing_token token) {
    std::cout << "page " << page << " under token " << token << '\n';
}

int main(int argc, char** argv) {
    const std::string_view url = argc > 1 ? argv[1] : "redis://localhost";
    pawl::blocking::client locks(pawl::from_url(url));

    auto lock = locks.try_acquire("report/nightly", {.ttl = 30s});
    if (!lock) {
        std::cout << "another process writes the report\n";  // a result, not an error
        return 0;
    }
    for (int page = 1; page <= 3; ++page) {
        if (lock.lost().stop_requested()) return 1;  // normally set before another holder can exist
        store(page, lock.token());                   // the store refuses an older token
    }
}  // the lock is released here, on every path
