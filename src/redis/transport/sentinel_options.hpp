// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How to log in to Sentinels, and their TLS: in the options and URLs.
#pragma once

#include "../../core/util/url.hpp"

#include <pawl/redis.hpp>

#include <string>

namespace pawl::redis {

// True: the option is about Sentinels, and was applied. Throws errc::bad_url or errc::bad_option.
[[nodiscard]] bool apply_sentinel_option(options& server_options, const std::string& name,
                                         const std::string& value);
// After all options: what was not said about TLS to the Sentinels is as for the master.
void complete_sentinel_tls(options& server_options, const core::url& parsed);
// Throws errc::bad_option for a password or TLS options that are not usable.
void check_sentinel_access(const sentinels& set);
// Throws errc::bad_option for a user of the Sentinels without a password, who would not be used.
void check_sentinel_password(const options& server_options);

}  // namespace pawl::redis
