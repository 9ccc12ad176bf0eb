// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A view of a connection of libpq, for pawl::guard. Standard headers only.
#pragma once

#include <pawl/guard/connection.hpp>

// libpq's PGconn.
struct pg_conn;

namespace pawl::guard {

// For PostgreSQL 12 or later. The connection must outlive the view, and run no other statement
// meanwhile. Not thread-safe.
class postgres_connection final : public connection {
public:
    // Sends nothing.
    explicit postgres_connection(pg_conn* handle) noexcept : handle_(handle) {}

    // As `connection`.
    rows execute(const statement& to_run) override;
    [[nodiscard]] guard::dialect dialect() const noexcept override { return dialect::postgres; }
    [[nodiscard]] bool in_transaction() const noexcept override;

private:
    pg_conn* handle_;
};

}  // namespace pawl::guard
