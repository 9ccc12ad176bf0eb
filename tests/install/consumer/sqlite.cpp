// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock in a file, without a server.
#include <pawl/blocking.hpp>
#include <pawl/sqlite.hpp>

#include <iostream>

int main() {
    pawl::blocking::client locks(pawl::sqlite::at({.path = "consumer.db"}));
    const auto held = locks.acquire("it");
    std::cout << "token " << held.token() << '\n';
    return held.token() ? 0 : 1;
}
