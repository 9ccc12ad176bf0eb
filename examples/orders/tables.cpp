// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tables.hpp"

#include <pawl/guard/schema.hpp>

namespace shop {

namespace guard = pawl::guard;

// COLLATE: the nightly pass goes through the orders by their id, in an order that never changes.
std::vector<std::string> shop_tables(guard::dialect spoken, bool is_unique) {
    const std::string text =
        spoken == guard::dialect::postgres ? "text COLLATE \"C\" NOT NULL" : "TEXT NOT NULL";
    const std::string unique = is_unique ? " UNIQUE" : "";
    return {"CREATE TABLE orders(id " + text + unique + ", state " + text + ")",
            "CREATE TABLE purchases(request " + text + unique + ", stripe bigint NOT NULL)",
            "CREATE TABLE stock(stripe bigint PRIMARY KEY, items bigint NOT NULL "
            "CHECK (items >= 0))"};
}

void open_shop(guard::connection& db, bool is_unique, std::int64_t stripes, std::int64_t items) {
    guard::make_tables(db);
    for (const auto& each : shop_tables(db.dialect(), is_unique))
        db.execute({each});
    for (std::int64_t stripe = 0; stripe < stripes; ++stripe)
        db.execute({"INSERT INTO stock(stripe, items) VALUES($1, $2)", {stripe, items}});
}

}  // namespace shop
