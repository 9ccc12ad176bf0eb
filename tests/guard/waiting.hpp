// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Whether a session of a database server waits for a lock of another one.
#pragma once

#include "test_database.hpp"

#include <support/eventually.hpp>

#include <chrono>
#include <future>
#include <memory>

namespace guard_tests {

// Not for SQLite, whose waits nobody can see.
class lock_waits {
public:
    explicit lock_waits(test_database& database) : watcher_(database.connect()) {
        if (database.dialect() == guard::dialect::postgres)
            text_ = "SELECT 0, count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    }

    // Returns when the call has ended, or some session waits for a lock. True: it waits.
    template <class Result>
    [[nodiscard]] bool becomes_waiting(std::future<Result>& call) const {
        bool waits = false;
        EXPECT_TRUE(support::eventually([&] {
            const bool has_ended =
                call.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
            waits = !has_ended && is_any_waiting();
            return has_ended || waits;
        }));
        return waits;
    }

private:
    [[nodiscard]] bool is_any_waiting() const {
        return guard::as_number(watcher_->run(text_).values.at(0).at(1)) > 0;
    }

    // The view innodb_trx is not for this: it shows an old state to those that ask often.
    std::string text_ = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'";
    std::unique_ptr<open_connection> watcher_;
};

}  // namespace guard_tests
