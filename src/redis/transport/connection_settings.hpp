// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How to connect to a server, wherever it is.
#pragma once

#include <pawl/redis.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace pawl::redis {

// The settings of a connection. Most are copies from `options`.
struct connection_settings {
    std::string user{};
    std::string password{};
    std::uint32_t database = 0;
    tls_options tls{};
    duration connect_timeout{};
    duration reply_timeout{};
    // A request that has waited this long for a connection fails with the next failed attempt.
    duration min_wait_before_failure = std::chrono::seconds(1);
    // The peer is a Sentinel, which knows few commands. All Sentinels of a host's name are equal,
    // so the connection may lead to any of them.
    bool is_sentinel = false;
    // Whether a node of a cluster is accepted although its other nodes are not known.
    bool accepts_cluster_node = false;
    // False: a replica counts as a server that cannot be reached, so the locator is asked again.
    bool accepts_replica = true;
};

[[nodiscard]] inline connection_settings settings_of(const options& server_options) {
    connection_settings result;
    result.user = server_options.user;
    result.password = server_options.password;
    result.database = server_options.database;
    result.tls = server_options.tls;
    result.connect_timeout = server_options.connect_timeout;
    result.reply_timeout = server_options.reply_timeout;
    result.accepts_cluster_node = server_options.layout == key_layout::redisson;
    result.accepts_replica = server_options.sentinel.addresses.empty();
    // The next attempt may lead to a new master.
    if (!result.accepts_replica) result.min_wait_before_failure = result.connect_timeout;
    return result;
}

// How to connect to the Sentinels.
[[nodiscard]] inline connection_settings sentinel_settings_of(const options& server_options) {
    connection_settings result;
    result.user = server_options.sentinel.user;
    result.password = server_options.sentinel.password;
    result.tls = server_options.sentinel.tls;
    result.connect_timeout = server_options.connect_timeout;
    result.reply_timeout = server_options.reply_timeout;
    result.min_wait_before_failure = {};  // the others may answer
    result.is_sentinel = true;
    return result;
}

}  // namespace pawl::redis
