// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which commands Pawl sends, for what. A test runs each feature with these rights only, and
// compares them with the commands that the server has executed.
#pragma once

#include <pawl/redis_rights.hpp>

#include <string>
#include <vector>

namespace pawl::redis {

// All in order, without duplicates. A new topology or option adds its commands in the source file.
[[nodiscard]] std::vector<std::string> server_commands(const options& server_options,
                                                       const used_features& features);
// For a node of Redlock.
[[nodiscard]] std::vector<std::string> redlock_commands(const options& node, bool fenced,
                                                        const used_features& features);
// For the user of the Sentinels.
[[nodiscard]] std::vector<std::string> sentinel_commands();

}  // namespace pawl::redis
