// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `pawl doctor` says of a MariaDB or MySQL server.
#pragma once

#include <pawl/examination.hpp>
#include <pawl/mysql.hpp>

#include <cstdint>
#include <string>

namespace pawl::mysql {

// What the server tells of itself.
struct server_state {
    std::string version{};          // with the comment of its makers
    std::string flush = "1";        // innodb_flush_log_at_trx_commit
    std::string binlog_format{};    // empty: there is no binary log
    std::string binlog_sync = "1";  // sync_binlog; 1 without a binary log
    enum class cluster_kind : std::uint8_t { none, galera, group_replication };
    cluster_kind cluster = cluster_kind::none;
    std::int64_t nodes = 1;  // of a Galera cluster, with arbitrators
    bool is_pushed = true;   // waiters are woken
    bool has_tls = false;
    bool sees_tables = false;  // this account has rights on the tables
    duration clock_offset{};   // positive: the server's clock is ahead
    duration hold_off{};       // nothing is granted for so long, after a failover
    // In ShedLock's table:
    std::int64_t future_locks = 0;  // not by the server's clock
    bool has_zone = false;          // its times depend on a time zone other than UTC
    bool ignores_case = false;      // some names that differ are one
};

// The setting that lets the server answer a commit before it is on the disk; empty: none does. A
// server that starts again undoes commits that its binary log lacks.
[[nodiscard]] std::string lazy_setting(const std::string& flush, const std::string& binlog_sync);

[[nodiscard]] examination assess(const server_state& state, const options& settings,
                                 const std::string& node);

// Of user locks, and of locked rows.
[[nodiscard]] examination assess_sessions(const server_state& state, const options& settings,
                                          const std::string& node);

}  // namespace pawl::mysql
