// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_statements.hpp"
#include "tables.hpp"

#include <pawl/guard/records.hpp>

namespace pawl::guard {
namespace {

std::vector<once_record> list(connection& db, record_state state, duration older_than,
                              const once_position& after, std::uint32_t limit) {
    table_checks::require(db, once_table);
    const auto answer = db.execute(
        list_statement(db.dialect(), state, older_than, {after.scope, after.key}, limit));
    std::vector<once_record> records;
    for (const auto& row : answer.values)
        records.push_back({.scope = as_string(row.at(0)),
                           .key = as_string(row.at(1)),
                           .token = fencing_token(static_cast<std::uint64_t>(as_number(row.at(2)))),
                           .attempts = static_cast<std::uint32_t>(as_number(row.at(3))),
                           .overdue = std::chrono::microseconds(as_number(row.at(4))),
                           .why = as_string(row.at(5))});
    return records;
}

}  // namespace

std::vector<once_record> unfinished(connection& db, duration older_than, const once_position& after,
                                    std::uint32_t limit) {
    return list(db, record_state::pending, older_than, after, limit);
}

std::vector<once_record> failed(connection& db, const once_position& after, std::uint32_t limit) {
    // The lease of a failed attempt may not be over yet, by years after a step of the clock.
    return list(db, record_state::failed, -std::chrono::hours(24 * 36525), after, limit);
}

std::uint64_t purge(connection& db, std::uint32_t limit) {
    table_checks::require(db, once_table);
    return db.execute(purge_statement(db.dialect(), limit)).matched;
}

}  // namespace pawl::guard
