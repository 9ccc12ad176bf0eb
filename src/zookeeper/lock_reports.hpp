// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Reports about locks for people, and forced releases.
#pragma once

#include "lock_client.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::zookeeper {

// As of `backend`.
[[nodiscard]] boost::asio::awaitable<lock_info> inspect(std::shared_ptr<lock_client> client,
                                                        std::string name);
[[nodiscard]] boost::asio::awaitable<std::vector<lock_info>> list(
    std::shared_ptr<lock_client> client, std::string prefix);
[[nodiscard]] boost::asio::awaitable<bool> force_release(std::shared_ptr<lock_client> client,
                                                         std::string name, fencing_token expected);

}  // namespace pawl::zookeeper
