// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One process of a storm.
#include "once_storm.hpp"
#include "rewriting_connection.hpp"

#include <pawl/guard/once.hpp>
#include <pawl/guard/transaction.hpp>

#include <chrono>
#include <iostream>
#include <random>
#include <thread>

#include <unistd.h>

namespace guard_tests {
namespace {

using namespace std::chrono_literals;

// The end of a record, without its condition.
rewriting without_check(guard::dialect spoken) {
    const std::string verb = "UPDATE pawl_once SET state";
    switch (spoken) {
    case guard::dialect::postgres:
        return {"", verb, "state = $6 AND token = $7",
                "$6::integer IS NOT NULL AND $7::bigint IS NOT NULL"};
    case guard::dialect::mysql:
        return {"", verb, "state = ? AND token = ?", "? IS NOT NULL AND ? IS NOT NULL"};
    case guard::dialect::sqlite: break;
    }
    return {"", verb, "state = ?6 AND token = ?7", "?6 IS NOT NULL AND ?7 IS NOT NULL"};
}

class storm_process {
public:
    storm_process(test_database& database, const std::string& isolation, storm_kind kind)
        : kind_(kind),
          opened_(database.connect(isolation)),
          outside_(database.connect()),
          db_(opened_->view(),
              kind == storm_kind::inside_without_check ? without_check(database.dialect())
                                                       : rewriting(),
              [this](const std::string& text) { linger_before(text); }) {
        options_.lease = kind == storm_kind::no_lease ? 0ms : 150ms;
        options_.wait = 300ms;
        options_.keep = 1h;
        options_.attempts = 1'000'000;
    }

    // Returns only with an error.
    void run() {
        for (;;) {
            try {
                call_once(next_operation());
            } catch (const guard::conflict&) {  // the next call tells
            }
        }
    }

private:
    // All processes choose among the same few operations, and go on to new ones.
    std::string next_operation() {
        const auto age = std::chrono::steady_clock::now().time_since_epoch() / 40ms;
        return "op " + std::to_string(age - static_cast<std::int64_t>(generator_() % 8));
    }
    void call_once(const std::string& operation) {
        const auto work = [&](const guard::attempt&) -> guard::outcome {
            const std::string result = std::to_string(::getpid()) + " " + std::to_string(++calls_);
            write_effect(operation, result);
            // In a transaction SQLite has one writer, which nobody overtakes.
            if (!db_.in_transaction() || db_.dialect() != guard::dialect::sqlite) linger();
            return result;
        };
        const bool is_inside = kind_ != storm_kind::outside && kind_ != storm_kind::outside_by_key;
        const auto told = is_inside ? guard::once(db_, operation, options_, work)
                                    : guard::at_least_once(db_, operation, options_, work);
        if (told) insert(*outside_, "answers", operation, told.value);
    }
    // For longer than the lease, now and then: before the effect's transaction, and within it.
    void linger() {
        if (generator_() % 10 == 0) std::this_thread::sleep_for(200ms);  // the pause is the fault
    }
    void linger_before(const std::string& text) {
        if (text.starts_with("BEGIN") || text.starts_with("START")) linger();
    }
    void write_effect(const std::string& operation, const std::string& result) {
        if (kind_ == storm_kind::outside_by_key) {
            try {
                insert(*outside_, "known_outside", operation, result);
            } catch (const guard::conflict&) {
                throw;
            } catch (const guard::database_error&) {  // known: it was carried out before
            }
            return;
        }
        auto& where = kind_ == storm_kind::outside ? *outside_ : *opened_;
        insert(where, "effects", operation, result);
        if (kind_ != storm_kind::outside) insert(where, "ledger", operation, result);
    }
    static void insert(open_connection& where, const std::string& table,
                       const std::string& operation, const std::string& result) {
        const auto text = "INSERT INTO " + table + "(operation, result) VALUES({}, {})";
        where.run(with_places(text, where.view().dialect()), {operation, result});
    }

    const storm_kind kind_;
    std::unique_ptr<open_connection> opened_, outside_;
    rewriting_connection db_;
    guard::once_options options_;
    std::minstd_rand generator_{static_cast<unsigned>(::getpid())};
    int calls_ = 0;
};

}  // namespace

int run_storm_process(const std::vector<std::string>& arguments) {
    try {
        const auto database = open_database(arguments.at(0), arguments.at(1));
        storm_process(*database, arguments.at(2),
                      static_cast<storm_kind>(std::stoi(arguments.at(3))))
            .run();
    } catch (const std::exception& failure) {
        std::cout << failure.what() << std::endl;
    }
    return 1;
}

}  // namespace guard_tests
