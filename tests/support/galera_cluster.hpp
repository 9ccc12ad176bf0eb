// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private Galera cluster of MariaDB servers for tests. All are nodes that accept writes.
#pragma once

#include "mariadb_server.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace support {

// Not thread-safe.
class galera_cluster {
public:
    // Returns when all nodes are ready. Throws std::runtime_error, whose text begins with
    // "NOT RUN: ", without Galera.
    explicit galera_cluster(std::size_t size = 3);

    [[nodiscard]] mariadb_server& node(std::size_t index) { return *nodes_[index]; }
    // Of these nodes, in this order, followed by `more`.
    [[nodiscard]] std::string url(const std::vector<std::size_t>& indexes,
                                  const std::string& more = {}) const {
        return url_of(nodes_, indexes, more);
    }
    // Whether the node has a majority with it, and accepts statements. False if it does not answer.
    [[nodiscard]] bool is_ready(std::size_t index) const;
    // Cuts the node from the others, or ends the cut. Clients still reach it.
    void isolate(std::size_t index, bool is_isolated = true);

private:
    void add_node();

    std::string members_;  // HOST:PORT,… of the nodes that have started
    std::vector<std::unique_ptr<mariadb_server>> nodes_;
};

}  // namespace support
