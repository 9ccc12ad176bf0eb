// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The code of the pages about the layers, fenced writes and reconciliation. It is compiled and not
// run.
#include <pawl/blocking.hpp>
#include <pawl/guard/fence.hpp>
#include <pawl/guard/fenced_file.hpp>
#include <pawl/guard/fencing_header.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/reconciliation.hpp>
#include <pawl/guard/records.hpp>
#include <pawl/guard/transaction.hpp>

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace guard = pawl::guard;
using namespace std::chrono_literals;

// docs/guide/fenced-writes.md

// False: a later holder has written. Throws guard::conflict if it must be called again.
bool set_price(guard::connection& db, pawl::fencing_token token, std::int64_t cents) {
    guard::transaction change(db);
    if (!guard::fence(db, "price/7", token)) return false;  // and rolls back
    db.execute({"UPDATE price SET cents = $1 WHERE id = 7", {cents}});
    change.commit();
    return true;
}

bool publish(const std::string& report, pawl::fencing_token token) {
    const guard::fenced_file file("/var/lib/shop/report.json");
    return file.write(report, token).accepted;  // false: a later holder has written
}

guard::http_problem put_price(guard::connection& db, std::string_view field, std::int64_t cents) {
    const auto token = guard::parse_fencing_token(field);
    if (!token) return guard::bad_token_problem(field);  // 428 or 400
    guard::transaction change(db);
    const auto fence = guard::fence(db, "price/7", *token);
    if (!fence) return guard::stale_token_problem(fence);  // 412
    db.execute({"UPDATE price SET cents = $1 WHERE id = 7", {cents}});
    change.commit();
    return {204, {}};
}

// docs/guide/layers.md
bool create(pawl::blocking::client& locks, guard::connection& db, const std::string& id) {
    auto lock = locks.acquire("order/" + id, {.ttl = 30s});
    guard::transaction order(db);
    db.execute({"INSERT INTO orders(id) VALUES($1)", {id}});
    order.commit();
    return lock.release() == pawl::release_result::released;
}

// docs/guide/reconciliation.md
guard::once_result charge(guard::connection& db, const std::string& id) {
    const auto work = [&](const guard::attempt& attempt) -> guard::outcome {
        return "charged by " + attempt.key();
    };
    return guard::at_least_once(db, {"charge/" + id}, {}, work);
}

void repair_orders(pawl::blocking::client& locks, guard::connection& db) {
    guard::reconciliation nightly(locks, db, "orders/nightly");
    const auto unpaid = [&](const std::string& after, std::uint32_t limit) {
        std::vector<std::string> ids;
        for (const auto& row : db.execute({"SELECT id FROM orders WHERE state = 'new' AND id > $1 "
                                           "ORDER BY id LIMIT $2",
                                           {after, std::int64_t{limit}}})
                                   .values)
            ids.push_back(guard::as_string(row[0]));
        return ids;
    };
    const auto repair = [&](const std::string& id, pawl::fencing_token) {
        return charge(db, id) ? guard::repair_result::repaired : guard::repair_result::failed;
    };
    std::cout << to_table(nightly.run(unpaid, repair));
}

std::vector<std::string> unfinished_charges(guard::connection& db, const std::string& after,
                                            std::uint32_t limit) {
    std::vector<std::string> keys;
    for (const auto& record : guard::unfinished(db, 5min, {"charges", after}, limit))
        if (record.scope == "charges") keys.push_back(record.key);
    return keys;
}
