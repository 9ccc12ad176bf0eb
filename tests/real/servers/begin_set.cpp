// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "begin_set.hpp"

#include <pawl/error.hpp>
#include <pawl/redlock.hpp>

#include <iostream>

namespace real {

int begin_set(const std::string& url, const std::string& force) {
    try {
        pawl::redlock::begin_set(pawl::redlock::parse(url), force == "force");
    } catch (const pawl::error& problem) {
        std::cout << problem.what() << std::endl;
        return 1;
    }
    std::cout << "begun" << std::endl;
    return 0;
}

}  // namespace real
