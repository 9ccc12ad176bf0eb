// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A blocking connection to PostgreSQL, to prepare and to look at a test's server.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct pg_conn;

namespace support {

using sql_row = std::vector<std::optional<std::string>>;  // empty: NULL

class sql_failure : public std::runtime_error {
public:
    sql_failure(const std::string& sentence, std::string code)
        : std::runtime_error(sentence), code_(std::move(code)) {}
    // The SQLSTATE; empty without a connection.
    [[nodiscard]] const std::string& code() const noexcept { return code_; }

private:
    std::string code_;
};

// Not thread-safe.
class sql_client {
public:
    // Throws sql_failure if the server refuses the connection.
    explicit sql_client(const std::string& url);

    // The rows of the last statement. Throws sql_failure.
    std::vector<sql_row> execute(const std::string& sql);
    // The first column of the first row, "" for NULL. Throws std::runtime_error without a row.
    std::string value(const std::string& sql);
    std::int64_t number(const std::string& sql) { return std::stoll(value(sql)); }
    [[nodiscard]] int server_process() const noexcept;
    [[nodiscard]] pg_conn* handle() const noexcept { return connection_.get(); }

private:
    std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace support
