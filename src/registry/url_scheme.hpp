// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A row of the table of URL schemes, which the build makes from cmake/backends.cmake.
#pragma once

#include "../core/util/backend_urls.hpp"

#include <string_view>

namespace pawl {

struct url_scheme {
    std::string_view name;       // redis
    std::string_view delimiter;  // "://", or ":" if a path or nothing follows
    std::string_view rest;       // what follows in the example of the list: HOST, /path/to/socket
    const core::backend_urls* backend;

    [[nodiscard]] constexpr bool has_hosts() const noexcept { return delimiter == "://"; }
    [[nodiscard]] constexpr bool has_path() const noexcept { return rest.starts_with('/'); }
    [[nodiscard]] constexpr bool is_file() const noexcept { return !has_hosts() && has_path(); }
};

}  // namespace pawl
