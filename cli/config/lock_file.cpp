// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_file.hpp"

#if PAWL_WITH_SQLITE
#include <pawl/sqlite.hpp>
#else
#include "../ui/failure.hpp"
#endif

namespace pawl::cli {

namespace {

constexpr std::string_view scheme = "sqlite:";

}  // namespace

// Escapes the characters of a path that have a meaning in a URL.
std::string lock_file_url(std::string_view path) {
    std::string url(scheme);
    for (const char each : path) {
        if (each == '%')
            url += "%25";
        else if (each == '?')
            url += "%3F";
        else
            url += each;
    }
    return url;
}

#if PAWL_WITH_SQLITE
service lock_file_at(const std::string& path) {
    return sqlite::at({.path = path, .make_folder = true});
}
#else
service lock_file_at(const std::string& /*path*/) {
    throw failure(exit_code::usage,
                  "This pawl was built without SQLite, so it has no lock file of this user; use "
                  "--on URL, or build it with -DPAWL_WITH_SQLITE=ON.");
}
#endif

bool names_relative_file(std::string_view url) {
    return url.starts_with(scheme) && !url.substr(scheme.size()).starts_with('/');
}

std::string_view lock_file_example() noexcept { return "sqlite:/var/lib/pawl/locks.db"; }

}  // namespace pawl::cli
