// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How to connect to a server, wherever it is.
#pragma once

#include "../../net/credential_source.hpp"
#include "../../net/tls.hpp"

#include <pawl/redis.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>

namespace pawl::redis {

// The settings of a connection. Most are copies from `options`. All connections of a client share
// the credentials and the TLS contexts, which keep what worked last.
struct connection_settings {
    std::shared_ptr<net::credential_source> credentials =
        std::make_shared<net::credential_source>();
    std::uint32_t database = 0;
    tls_options tls{};
    std::shared_ptr<net::tls_contexts> contexts = std::make_shared<net::tls_contexts>();
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
    // How the URL asks for no TLS, and for TLS.
    std::string_view without_tls = "redis", with_tls = "rediss";
    // What the error says about a server that is not accepted, after its name.
    std::string_view replica_message = "is a replica, not the master";
    std::string_view cluster_node_message =
        "is a node of a cluster, and this URL does not follow the others; write "
        "redis+cluster://HOST1,HOST2,HOST3";
    std::string_view sentinel_message =
        "is a Sentinel; write redis+sentinel://HOST:PORT/MASTER-NAME, or give the URL of the "
        "server itself";
};

[[nodiscard]] inline connection_settings settings_of(const options& server_options) {
    connection_settings result;
    result.credentials = std::make_shared<net::credential_source>(
        net::credential_options{{server_options.user, server_options.password},
                                server_options.password_file,
                                "password_file",
                                server_options.credentials});
    result.database = server_options.database;
    result.tls = server_options.tls;
    result.contexts = std::make_shared<net::tls_contexts>(result.tls);
    result.connect_timeout = server_options.connect_timeout;
    result.reply_timeout = server_options.reply_timeout;
    result.accepts_cluster_node = server_options.layout == key_layout::redisson;
    result.accepts_replica = !std::holds_alternative<sentinels>(server_options.where);
    // The next attempt may lead to a new master.
    if (!result.accepts_replica) result.min_wait_before_failure = result.connect_timeout;
    return result;
}

// How to connect to the Sentinels that the options name.
[[nodiscard]] inline connection_settings sentinel_settings_of(const options& server_options) {
    const auto& set = std::get<sentinels>(server_options.where);
    connection_settings result;
    result.credentials = std::make_shared<net::credential_source>(net::credential_options{
        {set.user, set.password}, set.password_file, "sentinel_password_file", set.credentials});
    result.tls = set.tls;
    result.contexts = std::make_shared<net::tls_contexts>(result.tls, "sentinel_");
    result.connect_timeout = server_options.connect_timeout;
    result.reply_timeout = server_options.reply_timeout;
    result.min_wait_before_failure = {};  // the others may answer
    result.is_sentinel = true;
    result.without_tls = "sentinel_tls=no";
    result.with_tls = "sentinel_tls=yes";
    return result;
}

}  // namespace pawl::redis
