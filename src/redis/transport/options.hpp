// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Parses, checks and describes the public options.
#pragma once

#include "../../core/util/url.hpp"

#include <pawl/redis.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

// The options of a URL. Throws errc::bad_option or errc::bad_url with one sentence.
[[nodiscard]] options parse_options(std::string_view url);
// What messages say of a URL that another scheme made of the one that is parsed.
struct scheme_words {
    std::string_view more_options{};  // that are known, too: "ttl_max, "
    std::string_view with_tls{};      // "redlocks://"
};
[[nodiscard]] options parse_options(const core::url& url, const scheme_words& words = {});
// Checks all options but the syntax of the key template, which `key_scheme` checks. Throws
// errc::bad_option with one sentence.
void check_options(const options& server_options);
// A URL such as redis://host:6379/0, without user and password. It has each option that decides
// which lock a name means, unless the option has its default value.
[[nodiscard]] std::string describe(const options& server_options);

}  // namespace pawl::redis
