// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The part of the options and URLs that is about Sentinels.
#pragma once

#include "../../core/util/url.hpp"

#include <pawl/redis.hpp>

#include <string>

namespace pawl::redis {

// redis+sentinel://… or rediss+sentinel://…
[[nodiscard]] bool is_sentinel_scheme(std::string_view scheme) noexcept;
// Takes hosts and master from the URL, and returns the rest of its path, which may name a database.
// Throws errc::bad_url.
[[nodiscard]] std::string apply_sentinels(options& server_options, const core::url& parsed);
// True: the option is about Sentinels, and was applied. Throws errc::bad_url or errc::bad_option.
[[nodiscard]] bool apply_sentinel_option(options& server_options, const std::string& name,
                                         const std::string& value);
// After all options: what was not said about TLS to the Sentinels is as for the master.
void complete_sentinel_tls(options& server_options, const core::url& parsed);
// Throws errc::bad_option with one sentence.
void check_sentinel_options(const options& server_options);
// redis+sentinel://HOST:PORT,…/MASTER/DATABASE
// Throws errc::bad_option for a user of the Sentinels without a password, who would not be used.
void check_sentinel_password(const options& server_options);
[[nodiscard]] std::string describe_sentinels(const options& server_options);

}  // namespace pawl::redis
