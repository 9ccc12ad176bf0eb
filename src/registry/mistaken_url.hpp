// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Suggestions for a URL that no backend accepts.
#pragma once

#include "url_scheme.hpp"

#include <span>
#include <string>
#include <string_view>

namespace pawl {

// One sentence for a URL whose scheme is none of `schemes`. It suggests only schemes of this build,
// and repeats nothing that may be a password.
[[nodiscard]] std::string sentence_for_mistaken_url(std::string_view url,
                                                    std::span<const url_scheme> schemes);

// The sentence for redis:host and redis:/host; empty for a URL with the slashes of its scheme.
[[nodiscard]] std::string sentence_for_missing_slashes(std::string_view url,
                                                       const url_scheme& scheme);

// SCHEME://HOST, with the first scheme that takes a host.
[[nodiscard]] std::string example_of_host(std::span<const url_scheme> schemes,
                                          std::string_view host);

}  // namespace pawl
