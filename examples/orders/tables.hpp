// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The shop's own tables. The tables of pawl::guard come from guard::make_tables.
#pragma once

#include <pawl/guard/connection.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace shop {

// The DDL, a statement each, for PostgreSQL and SQLite: orders(id, state), purchases(request,
// stripe) and stock(stripe, items). Without the unique constraint, an order's id and a purchase's
// request may occur twice.
[[nodiscard]] std::vector<std::string> shop_tables(pawl::guard::dialect spoken, bool is_unique);

// Makes the shop's tables and those of pawl::guard, and puts `items` into each of `stripes` rows of
// the stock. The database must be empty.
void open_shop(pawl::guard::connection& db, bool is_unique, std::int64_t stripes,
               std::int64_t items);

}  // namespace shop
