// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Waits for the connection to the server of a key.
#pragma once

#include "topology.hpp"

#include <boost/asio/awaitable.hpp>

#include <string_view>
#include <vector>

namespace pawl::redis {

// Waits until the link of the key is connected, and returns it. The key may move to another server
// meanwhile. Throws as `link::exec` does. `key` must outlive the wait. Frequent
// requests ask the topology first and call this only without a connection: a coroutine costs an
// allocation.
[[nodiscard]] boost::asio::awaitable<link*> connected_link_of(const topology& servers,
                                                              std::string_view key,
                                                              time_point give_up_at);

// The links to all servers, whether or not they answer. The nodes of a cluster are known when one
// of them has answered; without any, this throws.
[[nodiscard]] boost::asio::awaitable<std::vector<link*>> known_links_of(const topology& servers,
                                                                        time_point give_up_at);

}  // namespace pawl::redis
