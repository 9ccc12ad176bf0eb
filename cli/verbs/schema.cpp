// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/failure.hpp"
#include "verbs.hpp"

#include <pawl/guard/schema.hpp>

#include <iostream>

namespace pawl::cli {

namespace {

int print_guard_tables(const service_location& location) {
    const auto spoken = guard::dialect_of(location.url);
    if (!spoken)
        throw failure(exit_code::usage, location.lock_service.describe() +
                                            " has no tables of pawl::guard; name a database with "
                                            "--on.");
    std::cout << guard::schema_text(*spoken);
    return static_cast<int>(exit_code::ok);
}

}  // namespace

int schema(const schema_options& options) {
    const auto location = find_shared_location(options.location);
    if (options.guard) return print_guard_tables(location);
    const auto text = location.lock_service.setup_text(options.role);
    if (text.empty())
        throw failure(exit_code::usage, location.lock_service.describe() +
                                            " needs no schema; name a database with --on.");
    std::cout << text;
    return static_cast<int>(exit_code::ok);
}

}  // namespace pawl::cli
