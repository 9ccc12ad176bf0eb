// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tables of the layers, and how they are recognised in a database.
#pragma once

#include <pawl/guard/async_connection.hpp>
#include <pawl/guard/connection.hpp>

#include <span>
#include <string>
#include <string_view>

namespace pawl::guard {

// One of Pawl's tables. It has a row in pawl_schema with its version.
struct table {
    std::string_view name;
    int version;
    // In each dialect, in the order of `dialect`: the statements, each with a semicolon, and the
    // columns as the catalogue lists them, "name type" in the order of the names.
    std::string_view statements[3];
    std::string_view columns[3];
};

// A new table is a line here.
[[nodiscard]] std::span<const table* const> all_tables() noexcept;
extern const table once_table;
extern const table fence_table;
extern const table reconcile_table;

// Checks a table at the first use of a view.
class table_checks {
public:
    static void require(connection& db, const table& needed);
    static boost::asio::awaitable<void> require(async_connection& db, const table& needed);

private:
    [[nodiscard]] static std::uint32_t bit_of(const table& needed) noexcept;
};

}  // namespace pawl::guard
