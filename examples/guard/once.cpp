// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An order that is created once, whoever repeats the request. Usage: once [URL]
//
// Two callers send the same request at the same time, as a customer who presses a button twice. The
// record and the order are committed together; the lock only saves work.
#include <pawl/blocking.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/schema.hpp>
#include <pawl/guard/sqlite.hpp>

#include <sqlite3.h>

#include <cstdio>
#include <iostream>
#include <thread>

namespace guard = pawl::guard;
using namespace std::chrono_literals;

guard::once_result create_order(pawl::blocking::client& locks, guard::connection& db,
                                const std::string& id, const std::string& body) {
    const auto insert = [&](const guard::attempt&) -> guard::outcome {
        if (body.empty()) return guard::rejected{"an empty order"};
        db.execute({"INSERT INTO orders(id, body) VALUES(?1, ?2)", {id, body}});
        return "order " + id;
    };
    const guard::once_options options{.lease = 30s, .keep = 72h};
    return guard::guarded_once(locks, db, "order/" + id, {"order/" + id, body}, options, insert);
}

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    std::remove("shop.db");
    sqlite3 *first = nullptr, *second = nullptr;  // each caller has a connection of its own
    if (sqlite3_open("shop.db", &first) != SQLITE_OK) return 1;
    if (sqlite3_open("shop.db", &second) != SQLITE_OK) return 1;
    for (auto* each : {first, second})
        sqlite3_busy_timeout(each, 10'000);
    guard::sqlite_connection db(first), other_db(second);
    guard::make_tables(db);
    db.execute({"CREATE TABLE orders(id TEXT PRIMARY KEY, body TEXT)"});

    const auto press = [&](guard::connection& where, const std::string& body) {
        const auto result = create_order(locks, where, "7", body);
        std::cout << to_string(result.state) + std::string(": ") + result.value + "\n";
    };
    {
        std::jthread twice([&] { press(other_db, "one lamp"); });
        press(db, "one lamp");
    }
    press(db, "two lamps");  // mismatch: another request under the same key
    const auto orders = db.execute({"SELECT id FROM orders"}).matched;
    sqlite3_close(first);
    sqlite3_close(second);
    return orders == 1 ? 0 : 1;
}
