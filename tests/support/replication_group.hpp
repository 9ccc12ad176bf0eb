// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A private group of MySQL servers for tests, with MySQL's group replication.
#pragma once

#include "mariadb_server.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace support {

// Which members accept writes.
enum class group_writers { primary, all };

// Not thread-safe.
class replication_group {
public:
    // Returns when all members are there. Member 0 is the primary. Throws std::runtime_error, whose
    // text begins with "NOT RUN: ", without MySQL.
    explicit replication_group(group_writers writers = group_writers::primary,
                               std::size_t size = 3);

    [[nodiscard]] mariadb_server& node(std::size_t index) { return *nodes_[index]; }
    // Of these members, in this order, followed by `more`.
    [[nodiscard]] std::string url(const std::vector<std::size_t>& indexes,
                                  const std::string& more = {}) const {
        return url_of(nodes_, indexes, more);
    }
    // Whether the member is in the group, and has a majority with it. False if it does not answer.
    [[nodiscard]] bool is_ready(std::size_t index) const;
    // Whether it accepts writes, in the group or outside.
    [[nodiscard]] bool is_writable(std::size_t index) const;
    // The member leaves the group, and would accept writes.
    void leave(std::size_t index);
    void join(std::size_t index);

private:
    std::vector<std::unique_ptr<mariadb_server>> nodes_;
};

}  // namespace support
