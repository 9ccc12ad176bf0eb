// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// PgBouncer before a PostgreSQL server.
#pragma once

#include "postgres_server.hpp"

#include <string>
#include <vector>

namespace support {

class pgbouncer {
public:
    // `mode` is its pool_mode: session or transaction. `users` besides postgres, without passwords.
    // Throws std::runtime_error, whose text begins with "NOT RUN: ", if there is no pgbouncer.
    pgbouncer(const postgres_server& server, const std::string& mode,
              const std::vector<std::string>& users = {});

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string url(const std::string& database, const std::string& more = {}) const;

private:
    [[nodiscard]] bool try_start(const postgres_server& server, const std::string& mode);

    temp_folder folder_;
    std::uint16_t port_ = 0;
    std::optional<pawl::conformance::child> process_;
};

}  // namespace support
