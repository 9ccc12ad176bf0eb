// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Examines how well the servers of a service are suited for locks.
#pragma once

#include "../topology/topology.hpp"
#include "core/util/spi.hpp"

#include <pawl/examination.hpp>
#include <pawl/redis.hpp>

namespace pawl::redis {

// The arguments must outlive the coroutine.
[[nodiscard]] boost::asio::awaitable<examination> examine_servers(topology& servers, runtime& time,
                                                                  const options& server_options);

// Adds a finding for each server that is a node of Redlock. Not for the nodes of a redlock: URL.
// The arguments must outlive the coroutine.
boost::asio::awaitable<void> find_redlock_nodes(examination& report, topology& servers,
                                                runtime& time, const options& server_options);

}  // namespace pawl::redis
