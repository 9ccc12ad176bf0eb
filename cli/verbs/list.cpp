// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/failure.hpp"
#include "../ui/lock_view.hpp"
#include "verbs.hpp"

#include <pawl/blocking.hpp>
#include <pawl/incomplete_list.hpp>

#include <unistd.h>
#include <algorithm>
#include <iostream>

namespace pawl::cli {
namespace {

void print_list(const std::vector<lock_info>& listed, const list_options& options,
                const service_location& location) {
    if (options.json) {
        json text;
        text.begin_array();
        for (const lock_info& each : listed)
            write(text, each);
        std::cout << text.end_array().str() << '\n';
    } else if (options.names_only) {
        for (const lock_info& each : listed)
            std::cout << printable(each.name) << '\n';
    } else if (!listed.empty()) {
        std::cout << lock_table(listed).text(terminal_width(STDOUT_FILENO),
                                             wants_colour(STDOUT_FILENO));
    } else if (::isatty(STDOUT_FILENO) == 1) {
        std::cout << "No locks at " << printable(location.lock_service.describe()) << ".\n";
    }
}

void sort_by_name(std::vector<lock_info>& listed) {
    std::sort(listed.begin(), listed.end(),
              [](const lock_info& a, const lock_info& b) { return a.name < b.name; });
}

}  // namespace

int list(const list_options& options) {
    const service_location location = find_location(options.location);
    blocking::client locks(location.lock_service);
    try {
        auto listed = locks.list(options.prefix);
        sort_by_name(listed);
        print_list(listed, options, location);
        return static_cast<int>(exit_code::ok);
    } catch (const incomplete_list& partial) {
        auto listed = partial.locks();
        sort_by_name(listed);
        if (!listed.empty() || options.json) print_list(listed, options, location);
        std::cout << std::flush;
        throw;
    }
}

}  // namespace pawl::cli
