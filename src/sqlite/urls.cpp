// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/backend_urls.hpp"
#include "../core/util/url.hpp"

#include <pawl/error.hpp>
#include <pawl/sqlite.hpp>

#include <array>
#include <utility>

namespace pawl::sqlite {

options parse(std::string_view text) {
    const auto url = core::parse_url(text);
    options file_options;
    if (!url.hosts.empty())
        throw error(errc::bad_url, "A sqlite: URL has no host; write sqlite:/path or sqlite:path.");
    file_options.path = url.path;
    for (const auto& [name, value] : url.options) {
        if (name != "namespace")
            throw error(errc::bad_url,
                        "The URL's option '" + name + "' is unknown; sqlite: has namespace.");
        file_options.name_space = value;
    }
    return file_options;
}

service at(std::string_view url) { return at(parse(url)); }

namespace {

constexpr std::array foreign_schemes{
    core::foreign_scheme{"file", "; a lock file is sqlite:/path/to/file."}};

}  // namespace

extern const core::backend_urls urls;  // for the table of from_url()
constinit const core::backend_urls urls{.open = at, .foreign_schemes = foreign_schemes};

}  // namespace pawl::sqlite
