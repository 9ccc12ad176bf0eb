// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Independent servers for Redlock, for one test.
#pragma once

#include "redis_server.hpp"

#include <pawl/redlock.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace support {

class redlock_group {
public:
    // Node i runs on machine i; without `machines` all of them run here.
    explicit redlock_group(std::size_t nodes = 3, const redis_options& node_options = {},
                           const std::vector<machine>& machines = {});

    [[nodiscard]] redis_server& node(std::size_t index) { return *nodes_.at(index); }
    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_.size(); }
    // "HOST:PORT" of a node, as in messages.
    [[nodiscard]] std::string name_of(std::size_t index) const;
    // redlock://… with all nodes, followed by `more`.
    [[nodiscard]] std::string url(const std::string& more = {}) const;
    // Makes the nodes a set, without a quarantine, for clients with this URL.
    static void begin_set(const std::string& url, bool forget = false);
    // What each node says of its membership, after the others have let it join again, or without
    // any change.
    static std::vector<pawl::redlock::node_status> rejoin(const std::string& url);
    [[nodiscard]] static std::vector<pawl::redlock::node_status> examine(const std::string& url);
    // How many nodes have the lock's key.
    [[nodiscard]] std::size_t count_of(const std::string& lock);

private:
    std::vector<std::unique_ptr<redis_server>> nodes_;
};

}  // namespace support
