// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "order_creation.hpp"

namespace shop {

guard::once_result order_creation::create(const std::string& id, const std::string& body) {
    const auto insert = [&](const guard::attempt&) -> guard::outcome {
        db.execute({"INSERT INTO orders(id, state) VALUES($1, 'new')", {id}});
        const auto item = db.execute({"UPDATE stock SET items = items - 1 WHERE items > 0"});
        if (item.matched == 0) return guard::rejected{"sold out"};
        return id;
    };
    const std::string name = "order/" + id;
    const auto made = guard::guarded_once(locks, db, name, {name, body}, options, insert);
    return made ? charge(id) : made;
}

guard::once_result order_creation::charge(const std::string& id) {
    const auto work = [&](const guard::attempt& attempt) -> guard::outcome {
        const auto paid = bank.post("/charges/" + id, "the price of " + id, headers_of(attempt));
        if (paid.status == 402) return guard::rejected{paid.body};
        if (paid.status >= 400) return guard::retry_after{pause};
        db.execute({"UPDATE orders SET state = 'paid' WHERE id = $1", {id}});
        return paid.body;
    };
    const std::string name = "charge/" + id;
    return guard::guarded_at_least_once(locks, db, name, name, options, work);
}

guard::reconcile_report order_creation::repair(guard::reconcile_options limits) {
    guard::reconciliation nightly(locks, db, "orders/nightly", limits);
    const auto find = [&](const std::string& after, std::uint32_t limit) {
        const auto unpaid =
            db.execute({"SELECT id FROM orders WHERE state = 'new' AND id > $1 ORDER BY id LIMIT "
                        "$2",
                        {after, std::int64_t{limit}}});
        std::vector<std::string> ids;
        for (const auto& row : unpaid.values)
            ids.push_back(guard::as_string(row.at(0)));
        return ids;
    };
    const auto mend = [&](const std::string& id, pawl::fencing_token) {
        return charge(id) ? guard::repair_result::repaired : guard::repair_result::failed;
    };
    return nightly.run(find, mend);
}

}  // namespace shop
