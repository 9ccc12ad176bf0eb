// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls about holds: they are renewed, released and downgraded. The backend's rules are in
// pawl/spi/backend.hpp.
#pragma once

#include "lock_client.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pawl::etcd {

[[nodiscard]] boost::asio::awaitable<std::vector<grant>> acquire_batch(
    std::shared_ptr<lock_client> client, std::span<const claim> claims, time_point give_up_at);
[[nodiscard]] boost::asio::awaitable<void> renew(std::shared_ptr<lock_client> client,
                                                 renewal_batch& batch);
[[nodiscard]] boost::asio::awaitable<release_result> release(std::shared_ptr<lock_client> client,
                                                             const hold& requested);
[[nodiscard]] boost::asio::awaitable<std::optional<grant>> downgrade(
    std::shared_ptr<lock_client> client, const hold& requested);

// The most operations of one transaction, of which etcd allows 128.
inline constexpr std::size_t most_operations = 120;

}  // namespace pawl::etcd
