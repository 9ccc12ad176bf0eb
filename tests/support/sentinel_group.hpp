// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A master, its replicas, and the Sentinels that monitor it, for one test.
#pragma once

#include "redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace support {

inline const std::string master_name = "orders";

struct sentinel_group_options {
    std::size_t replicas = 0;
    std::size_t sentinels = 3;
    std::vector<std::string> server_config{};  // of the master and the replicas
    std::vector<std::string> sentinel_config{};
    std::string password{};  // of the master and the replicas
    std::string sentinel_password{};
    // For a part of a failover. A second one begins after twice this time at the earliest.
    std::chrono::milliseconds failover_timeout{4000};
    bool sentinel_tls = false;  // see redis_options::tls
    // A folder as redis_options::certificates: all servers and Sentinels have TLS with these, and
    // `url` begins with rediss+sentinel. Empty: as `sentinel_tls` says.
    std::string certificates{};
    // Server i and Sentinel i run on machine i, the Sentinels without its environment. Empty: here.
    std::vector<machine> machines{};
};

// When it is made, the Sentinels know each other. Server 0 is the first master.
class sentinel_group {
public:
    explicit sentinel_group(const sentinel_group_options& options = {});

    // redis+sentinel://… with all Sentinels, followed by `more`.
    [[nodiscard]] std::string url(const std::string& more = {}) const;
    [[nodiscard]] redis_server& server(std::size_t index) { return *servers_.at(index); }
    [[nodiscard]] redis_server& sentinel(std::size_t index) { return *sentinels_.at(index); }
    [[nodiscard]] std::size_t sentinel_count() const noexcept { return sentinels_.size(); }

    // The port and the config-epoch that a Sentinel has for the master.
    [[nodiscard]] std::uint16_t master_port(std::size_t sentinel = 0);
    [[nodiscard]] std::uint64_t epoch(std::size_t sentinel = 0);
    // The server that the Sentinel names.
    [[nodiscard]] redis_server& master(std::size_t sentinel = 0);
    // Waits until the replicas have the master's data, and each Sentinel knows them.
    [[nodiscard]] bool is_replicated();
    // The Sentinels promote a replica while the master runs. Returns before the master is a
    // replica.
    void begin_failover();
    // Waits until every Sentinel that answers names another master than `port`.
    [[nodiscard]] bool eventually_moved_from(std::uint16_t port);

private:
    void introduce_sentinels();
    [[nodiscard]] std::string field(std::size_t sentinel, const std::string& name);

    const bool has_tls_;  // everywhere
    std::vector<std::unique_ptr<redis_server>> servers_;
    std::vector<std::unique_ptr<redis_server>> sentinels_;
};

}  // namespace support
