// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a backend tells from_url() about its URLs: each backend defines one `urls` in its namespace.
// The list of its schemes is in cmake/backends.cmake.
#pragma once

#include <pawl/service.hpp>

#include <span>
#include <string_view>

namespace pawl::core {

// A scheme that is none of Pawl's, with advice for a user who has tried it.
struct foreign_scheme {
    std::string_view name;
    std::string_view advice;  // follows "'NAME' is not a scheme of Pawl"
};

struct backend_urls {
    // Makes the service of a URL with a scheme of the backend. Throws as from_url().
    service (*open)(std::string_view url);
    std::span<const foreign_scheme> foreign_schemes{};
};

}  // namespace pawl::core
