// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `pawl doctor` says of a PostgreSQL server.
#pragma once

#include "connection.hpp"

#include <pawl/examination.hpp>
#include <pawl/postgres.hpp>

#include <cstdint>
#include <string>

namespace pawl::postgres {

// What the server tells of itself.
struct server_state {
    std::string version;  // such as "15.4"
    bool has_fsync = true;
    bool has_full_page_writes = true;
    std::string synchronous_commit;
    std::string synchronous_standbys;   // the setting's value
    std::int64_t standbys = 0;          // that receive the log at present
    std::int64_t oldest_snapshot = 0;   // its age in seconds; 0: none
    std::int64_t hidden_snapshots = 0;  // of which this role may not see the age
    std::int64_t sessions = 0;          // of the database, that have advisory locks
    std::string timeline;
    duration hold_off{};         // nothing is granted for so long, after a failover
    std::int64_t dead_rows = 0;  // of Pawl's tables
    std::string writers;         // roles that may write the tables, beside superusers
    bool is_superuser = false;   // the role of this connection
    std::string encoding;
    duration clock_offset{};  // positive: the server's clock is ahead
    bool has_proxy = false;
    bool has_tls = false;
    std::int64_t future_locks = 0;  // in ShedLock's table: not by the server's clock
    bool is_remote = false;         // not a Unix socket, and not this host
};

// The query that `read_state` reads; its parameter is the schema.
[[nodiscard]] const char* state_query() noexcept;
// Throws errc::protocol.
[[nodiscard]] server_state read_state(const std::vector<sql::row>& rows, const error_place& place);

[[nodiscard]] examination assess(const server_state& state, const options& settings,
                                 const std::string& node);
// Of advisory locks.
[[nodiscard]] examination assess_sessions(const server_state& state, const std::string& node);

}  // namespace pawl::postgres
