// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Patterns of an ACL that match all keys and channels of a service's locks.
#pragma once

#include <pawl/redis_rights.hpp>

#include <string>
#include <vector>

namespace pawl::redis {

[[nodiscard]] std::vector<std::string> key_patterns(const options& server_options);
[[nodiscard]] std::vector<std::string> channel_patterns(const options& server_options,
                                                        const used_features& features);

// For a node of Redlock: what it keeps of its membership.
[[nodiscard]] std::string redlock_pattern(const options& server_options);

}  // namespace pawl::redis
