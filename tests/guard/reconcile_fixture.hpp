// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Orders that a reconciliation charges, and two clients of one lock service.
#pragma once

#include "refusals.hpp"
#include "test_database.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/reconciliation.hpp>
#include <pawl/guard/schema.hpp>
#include <pawl/memory.hpp>

#include <string>
#include <vector>

namespace guard_tests {

inline std::vector<std::string> strings_of(const guard::rows& answer) {
    std::vector<std::string> strings;
    for (const auto& row : answer.values)
        strings.push_back(guard::as_string(row.at(0)));
    return strings;
}

inline std::string unpaid_orders(guard::dialect spoken, std::uint32_t limit) {
    return with_places("SELECT id FROM orders WHERE paid = 0 AND id > {} ORDER BY id LIMIT ",
                       spoken) +
           std::to_string(limit);
}

class reconcile_fixture : public database_test {
protected:
    reconcile_fixture() {
        guard::make_tables(db->view());
        db->run("CREATE TABLE orders(id VARCHAR(9) PRIMARY KEY, paid INTEGER NOT NULL)");
        for (const auto* id : {"01", "02", "03", "04", "05", "06", "07"})
            db->run(places("INSERT INTO orders(id, paid) VALUES({}, 0)"), {id});
    }

    // Fast, and with many cursors.
    static constexpr guard::reconcile_options tiny{.batch = 2, .per_second = 1e6};

    static guard::find_keys unpaid(open_connection& connection) {
        return [&connection](const std::string& after, std::uint32_t limit) {
            const auto spoken = connection.view().dialect();
            return strings_of(connection.run(unpaid_orders(spoken, limit), {after}));
        };
    }
    static guard::repair_result pay(open_connection& connection, const std::string& id) {
        const auto text =
            with_places("UPDATE orders SET paid = paid + 1 WHERE id = {} AND paid = 0",
                        connection.view().dialect());
        return connection.run(text, {id}).matched == 1 ? guard::repair_result::repaired
                                                       : guard::repair_result::agrees;
    }
    guard::repair_key paying() {
        return [this](const std::string& id, pawl::fencing_token) { return pay(*db, id); };
    }
    guard::reconcile_report run(const guard::repair_key& repair,
                                guard::reconcile_options options = tiny,
                                std::stop_token stop = {}) {
        guard::reconciliation nightly(locks, db->view(), "nightly", options);
        return nightly.run(unpaid(*db), repair, std::move(stop));
    }
    guard::reconcile_report run() { return run(paying()); }

    [[nodiscard]] std::int64_t unpaid_count() {
        return db->number("SELECT count(*) FROM orders WHERE paid = 0");
    }
    [[nodiscard]] std::vector<guard::reconcile_run> history() {
        return guard::reconcile_history(db->view(), "nightly");
    }

    const std::unique_ptr<open_connection> db = database->connect();
    const pawl::service service = pawl::memory::at();
    pawl::blocking::client locks{service}, other_locks{service};
};

}  // namespace guard_tests
