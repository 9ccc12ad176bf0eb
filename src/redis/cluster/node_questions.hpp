// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The questions to one node of a cluster, and what its answers are good for.
#pragma once

#include "node_list.hpp"
#include "seed_list.hpp"

#include "../transport/link.hpp"

#include <pawl/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace pawl::redis {

// The node's view. Throws what the node refuses, and as `link::exec`. `name`: "HOST:PORT".
boost::asio::awaitable<std::vector<listed_node>> query_view(std::shared_ptr<link> asked,
                                                            std::string name, bool uses_tls,
                                                            time_point give_up_at);
// The beginning of the node's replication id. Throws in the same way.
boost::asio::awaitable<std::string> query_replication_id(std::shared_ptr<link> asked,
                                                         std::string name, time_point give_up_at);

// Why the view of a seed is of no use, or null.
[[nodiscard]] std::exception_ptr slots_objection(const std::vector<listed_node>& view,
                                                 const std::string& seed);
// A node that the client remembers may have left, and another cluster may have its address by now.
void throw_if_replaced(const std::vector<listed_node>& view, const seed& asked);
// A seed has accepted the user before a node is connected.
[[nodiscard]] error with_node_advice(const error& refusal);

}  // namespace pawl::redis
