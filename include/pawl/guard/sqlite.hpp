// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A view of a connection to a SQLite file, for pawl::guard. Standard headers only.
#pragma once

#include <pawl/guard/connection.hpp>

// SQLite's sqlite3.
struct sqlite3;

namespace pawl::guard {

// For SQLite 3.35 or later. The connection must outlive the view, and run no other statement
// meanwhile. How long it waits for other writers is the connection's own busy timeout. Not
// thread-safe.
class sqlite_connection final : public connection {
public:
    // Sends nothing.
    explicit sqlite_connection(sqlite3* handle) noexcept : handle_(handle) {}

    // As `connection`.
    rows execute(const statement& to_run) override;
    [[nodiscard]] guard::dialect dialect() const noexcept override { return dialect::sqlite; }
    [[nodiscard]] bool in_transaction() const noexcept override;

private:
    sqlite3* handle_;
};

}  // namespace pawl::guard
