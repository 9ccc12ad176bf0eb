// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls about locks, whoever holds them.
#pragma once

#include "lock_client.hpp"

#include <memory>
#include <string>
#include <vector>

namespace pawl::etcd {

[[nodiscard]] boost::asio::awaitable<lock_info> inspect(std::shared_ptr<lock_client> client,
                                                        std::string name);
[[nodiscard]] boost::asio::awaitable<std::vector<lock_info>> list(
    std::shared_ptr<lock_client> client, std::string prefix);
[[nodiscard]] boost::asio::awaitable<bool> force_release(std::shared_ptr<lock_client> client,
                                                         std::string name, fencing_token expected);
[[nodiscard]] boost::asio::awaitable<void> resize(std::shared_ptr<lock_client> client,
                                                  std::string name, std::uint32_t permits);

}  // namespace pawl::etcd
