// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Making a service does not connect, and its description hides the password.
#include <pawl/redis.hpp>

#include <iostream>

int main() {
    const auto there = pawl::redis::at("redis://somebody:secret@127.0.0.1:6390/2");
    std::cout << there.describe() << '\n';
    return there.describe().find("secret") == std::string::npos ? 0 : 1;
}
