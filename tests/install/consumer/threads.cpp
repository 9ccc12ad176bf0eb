// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks for threads, from a URL.
#include <pawl/blocking.hpp>
#include <pawl/blocking/mutex.hpp>

#include <iostream>
#include <mutex>

int main() {
    pawl::blocking::client locks(pawl::from_url("memory:"));
    auto first = locks.acquire("it");
    if (locks.try_acquire("it").owns_lock()) return 1;
    const auto token = first.token();
    if (first.release() != pawl::release_result::released) return 2;

    pawl::blocking::mutex it(locks, "it");
    const std::scoped_lock guard(it);
    std::cout << "token " << token << '\n';
    return token ? 0 : 3;
}
