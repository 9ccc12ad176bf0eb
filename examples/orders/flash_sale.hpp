// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A flash sale, whose stock is in several rows. The request has a natural key, so the unique
// constraint of the order is its record: it needs no other.
#pragma once

#include <pawl/blocking/client.hpp>
#include <pawl/guard/transaction.hpp>

#include <string>

namespace shop {

namespace guard = pawl::guard;

// Each thread has its own. The members must outlive it.
struct flash_sale {
    pawl::blocking::client& locks;
    guard::connection& db;
    pawl::striped stripes;  // a row of the stock for each
    pawl::lock_options options{.ttl = std::chrono::seconds(10), .wait = std::chrono::minutes(1)};

    // True: the order of this request exists. False: sold out. Throws guard::conflict: repeat.
    bool buy(const std::string& request) {
        return with_any_stripe(locks, stripes, request, options, [&](auto&, std::size_t stripe) {
            return take(request, static_cast<std::int64_t>(stripe));
        });
    }

private:
    bool take(const std::string& request, std::int64_t stripe) {
        guard::transaction sale(db);
        const auto order =
            db.execute({"INSERT INTO purchases(request, stripe) VALUES($1, $2) ON CONFLICT "
                        "DO NOTHING",
                        {request, stripe}});
        if (order.matched == 0) return true;  // bought by an earlier attempt
        const auto item = db.execute(
            {"UPDATE stock SET items = items - 1 WHERE stripe = $1 AND items > 0", {stripe}});
        if (item.matched == 0) return false;  // sold out: the order is rolled back
        sale.commit();
        return true;
    }
};

}  // namespace shop
