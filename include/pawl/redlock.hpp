// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redlock with fencing tokens: locks over 3, 5 or 7 independent Redis or Valkey servers, of which a
// majority must grant each lock. docs/backends/redlock.md has the protocol, its proof, and what the
// nodes keep; docs/guide/guarantees.md what holds when servers fail.
#pragma once

#include <pawl/redis.hpp>
#include <pawl/service.hpp>
#include <pawl/types.hpp>

#include <string_view>
#include <vector>

namespace pawl::redlock {

// All clients of a set must name the same nodes, in any order, with the same `ttl_max`: otherwise
// the nodes refuse them.
struct options {
    // 3, 5 or 7 servers, each of its own and with no replicas of another, or groups of servers with
    // Sentinels. Their namespaces, layouts, databases and timeouts must be equal.
    std::vector<redis::options> nodes{};
    // The longest ttl of a lease: 100 ms to 1 h. A node that has lost its data grants nothing for a
    // little longer than this.
    duration ttl_max = std::chrono::seconds(60);
};

// Neither connects. They throw errc::bad_option for options that are out of range or do not fit
// together, and errc::bad_url for a URL that is not understood.
[[nodiscard]] service at(options settings);
// redlock://[user[:password]@]host1[:port],host2[:port],host3[:port][/database][?option=value&…],
// with TLS redlocks://…. The options are those of redis:// and rediss://, and ttl_max, in ms.
[[nodiscard]] service at(std::string_view url);

}  // namespace pawl::redlock
