// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `pawl doctor` says of a MariaDB or MySQL server.
#pragma once

#include <pawl/examination.hpp>
#include <pawl/mysql.hpp>

#include <string>

namespace pawl::mysql {

// What the server tells of itself.
struct server_state {
    std::string version;        // with the comment of its makers
    std::string flush = "1";    // innodb_flush_log_at_trx_commit
    std::string binlog_format;  // empty: there is no binary log
    bool is_cluster = false;
    bool is_pushed = true;  // waiters are woken
};

[[nodiscard]] examination assess(const server_state& state, const options& settings,
                                 const std::string& node);

// Of user locks, and of locked rows.
[[nodiscard]] examination assess_sessions(const std::string& version, const options& settings,
                                          const std::string& node);

}  // namespace pawl::mysql
