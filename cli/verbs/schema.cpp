// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/failure.hpp"
#include "verbs.hpp"

#include <iostream>

namespace pawl::cli {

int schema(const schema_options& options) {
    const auto location = find_shared_location(options.location);
    const auto text = location.lock_service.setup_text(options.role);
    if (text.empty())
        throw failure(exit_code::usage, location.lock_service.describe() +
                                            " needs no schema; name a database with --on.");
    std::cout << text;
    return static_cast<int>(exit_code::ok);
}

}  // namespace pawl::cli
