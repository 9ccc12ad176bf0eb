// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../core/util/backend_urls.hpp"
#include "../core/util/url.hpp"

#include <pawl/error.hpp>
#include <pawl/memory.hpp>

namespace pawl::memory {

service at(std::string_view text) {
    const auto url = core::parse_url(text);
    if (!url.options.empty()) throw error(errc::bad_url, "A memory: URL has no options.");
    if (!url.hosts.empty())
        throw error(errc::bad_url, "A memory: URL has no host; write memory: or memory:NAME.");
    return at(options{.name = url.path});
}

extern const core::backend_urls urls;  // for the table of from_url()
constinit const core::backend_urls urls{.open = at};

}  // namespace pawl::memory
