// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Three ZooKeeper servers that form an ensemble. A server can be cut off from the others.
#pragma once

#include "zookeeper_proxy.hpp"
#include "zookeeper_server.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace support {

// Not thread-safe.
class zookeeper_ensemble {
public:
    static constexpr std::size_t count = 3;

    explicit zookeeper_ensemble(const zookeeper_options& options = {});

    [[nodiscard]] zookeeper_server& server(std::size_t index) { return *servers_.at(index); }
    // zookeeper://HOST,HOST,HOST, PATH, and the options of its ticks, which end with `more`.
    [[nodiscard]] std::string url(const std::string& path = {}, const std::string& more = {}) const;
    // Waits until there is one. Throws std::runtime_error.
    [[nodiscard]] std::size_t leader();
    [[nodiscard]] std::size_t follower();
    // The server and the others do not reach each other, and notice nothing but silence. Clients
    // reach all of them.
    void cut_off(std::size_t index);
    void heal();

private:
    struct link {
        std::size_t from = 0, to = 0;
        std::unique_ptr<zookeeper_proxy> quorum, election;
    };

    [[nodiscard]] std::vector<std::string> lines_of(std::size_t index) const;

    const zookeeper_options options_;
    std::array<std::uint16_t, count> quorum_ports_{}, election_ports_{};
    std::vector<link> links_;
    std::vector<std::unique_ptr<zookeeper_server>> servers_;
};

}  // namespace support
