// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/failure.hpp"
#include "../ui/json.hpp"
#include "../ui/lock_view.hpp"
#include "../ui/style.hpp"
#include "checks.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>

#include <iostream>

namespace pawl::cli {

int resize(const resize_options& options) {
    check_name(options.name);
    const service_location location = find_shared_location(options.location);
    if (location.url.starts_with("redlock"))
        throw failure(exit_code::usage,
                      "Redlock has no permits: its servers cannot agree on a count without a log; "
                      "use a service with one server, or a cluster.");
    blocking::client locks(location.lock_service);
    if (!options.create && !locks.inspect(options.name).free_permits) {
        if (location.url.find("object=semaphore") != std::string::npos) {
            throw failure(exit_code::usage,
                          "There is no semaphore '" + options.name +
                              "', and pawl resize cannot create a Redisson Semaphore; check the "
                              "name, or create it with pawl run --permits K/N.");
        }
        throw failure(exit_code::no, "There is no semaphore '" + options.name +
                                         "'; check the name, or add --create to create it.");
    }
    locks.resize(options.name, options.permits);
    if (options.json) {
        json text;
        text.begin_object().field("name", options.name);
        text.field("permits", std::int64_t{options.permits}).end_object();
        std::cout << text.str() << '\n';
    } else {
        std::cout << "'" << printable(options.name) << "' has " << options.permits
                  << (options.permits == 1 ? " permit" : " permits") << " from now on.\n";
    }
    return static_cast<int>(exit_code::ok);
}

}  // namespace pawl::cli
