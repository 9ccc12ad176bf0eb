// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The options of a Redis Cluster: in a URL, and as an object.
#pragma once

#include "../../core/util/url.hpp"

#include <pawl/redis.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

[[nodiscard]] bool is_cluster_scheme(std::string_view scheme) noexcept;
// Sets the nodes. Throws errc::bad_url.
void apply_cluster(options& server_options, const core::url& parsed);
// Throws errc::bad_option for options that do not fit together.
void check_cluster_options(const options& server_options);
// The URL without the options that every service has.
[[nodiscard]] std::string describe_cluster(const options& server_options);

}  // namespace pawl::redis
