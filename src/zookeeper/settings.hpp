// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What all sessions of a client have in common.
#pragma once

#include "connection.hpp"
#include "messages.hpp"

#include "../net/credential_source.hpp"
#include "../net/endpoint.hpp"

#include <pawl/zookeeper.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace pawl::zookeeper {

struct client_settings {
    // The options have been checked.
    explicit client_settings(const options& given);

    std::vector<net::endpoint> servers;
    std::shared_ptr<const tls_settings> tls;
    std::shared_ptr<net::credential_source> credentials;
    bool has_login = false;
    duration tick{};
    duration connect_timeout{};
    std::string root;
    bool makes_root = false;
    lock_object object{};
    spi::capabilities supported{};
    std::string description;  // "ZooKeeper at h1:2181, h2:2181"

    [[nodiscard]] node_rights rights() const noexcept {
        return has_login ? node_rights::own : node_rights::everybody;
    }
    // The longest ttl of a waiter's node: a dead waiter must not stop the queue for long. A grant
    // with a longer ttl gets another node by its first renewal.
    [[nodiscard]] duration waiting_ttl() const noexcept {
        return std::max<duration>(std::chrono::seconds(5), tick);
    }
    // The timeout of the session of holds with this ttl. Whole ticks keep the sessions few. The
    // rest is what the evidence of its life may be older than a `sync`.
    [[nodiscard]] duration session_timeout(duration ttl) const noexcept {
        return (ttl + tick - duration(1)) / tick * tick + tick * 3 / 2;
    }
};

}  // namespace pawl::zookeeper
