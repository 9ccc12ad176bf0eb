// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The part of the options and URLs that says where the servers are.
#pragma once

#include "../../core/util/url.hpp"
#include "../../net/endpoint.hpp"

#include <pawl/redis.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

// Takes scheme, hosts and path of a URL: sets `where`, `database` and `tls.enabled`. Throws
// errc::bad_url.
void apply_where(options& server_options, const core::url& parsed);
// The number in "/0", or in an empty path. Throws errc::bad_url.
[[nodiscard]] std::uint32_t parse_database(std::string_view path);
// Throws errc::bad_option with one sentence.
void check_where(const options& server_options);
// "rediss://", or as it begins for such servers.
[[nodiscard]] std::string_view scheme_with_tls(const where& servers) noexcept;
// A URL without options: redis://HOST:PORT/DATABASE.
[[nodiscard]] std::string describe_where(const options& server_options);
// Of the options for one server, or its socket; else empty.
[[nodiscard]] net::endpoint endpoint_of(const options& server_options);

}  // namespace pawl::redis
