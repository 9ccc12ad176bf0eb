// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A view of a connection of libmariadb, for pawl::guard. Standard headers only.
#pragma once

#include <pawl/guard/connection.hpp>

// libmariadb's MYSQL.
struct st_mysql;

namespace pawl::guard {

// For MariaDB 10.6 and MySQL 8.0, or later. MySQL prepares a statement with parameters before it
// runs it, which costs a round trip more. After a `conflict` the view rolls the transaction back.
// The connection must outlive the view, and run no other statement meanwhile. Not thread-safe.
class mysql_connection final : public connection {
public:
    // Sends nothing.
    explicit mysql_connection(st_mysql* handle) noexcept : handle_(handle) {}

    // As `connection`.
    rows execute(const statement& to_run) override;
    [[nodiscard]] guard::dialect dialect() const noexcept override { return dialect::mysql; }
    [[nodiscard]] bool in_transaction() const noexcept override;

private:
    st_mysql* handle_;
};

}  // namespace pawl::guard
