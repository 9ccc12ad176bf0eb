// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "prepared_statement.hpp"

#include <pawl/guard/mysql.hpp>

namespace pawl::guard {
namespace {

// Statements such as BEGIN cannot be prepared.
rows run_text(MYSQL* handle, const std::string& text) {
    if (::mysql_real_query(handle, text.data(), text.size()) != 0) throw_mysql_failure(handle);
    const std::unique_ptr<MYSQL_RES, decltype(&::mysql_free_result)> stored(
        ::mysql_store_result(handle), &::mysql_free_result);
    return text_rows_of(handle, stored.get(), text);
}

rows run_prepared(MYSQL* handle, const statement& to_run) {
    mysql_prepared prepared(handle, to_run);
    const auto& text = to_run.text;
    if (prepared.has_a_place_for_each()) {  // one round trip, except to MySQL
        prepared.bind_unprepared();
        if (::mariadb_stmt_execute_direct(prepared.get(), text.data(), text.size()) != 0)
            prepared.throw_failure();
    } else {
        if (::mysql_stmt_prepare(prepared.get(), text.data(), text.size()) != 0)
            prepared.throw_failure();
        prepared.bind_parameters();
        if (::mysql_stmt_execute(prepared.get()) != 0) prepared.throw_failure();
    }
    if (prepared.has_rows() && ::mysql_stmt_store_result(prepared.get()) != 0)
        prepared.throw_failure();
    return prepared.read();
}

}  // namespace

rows mysql_connection::execute(const statement& to_run) {
    try {
        return to_run.parameters.empty() ? run_text(handle_, to_run.text)
                                         : run_prepared(handle_, to_run);
    } catch (const conflict&) {
        // A deadlock has ended the transaction, and the library does not know it yet.
        if (in_transaction()) (void)::mysql_rollback(handle_);
        throw;
    }
}

bool mysql_connection::in_transaction() const noexcept { return is_in_mysql_transaction(handle_); }

}  // namespace pawl::guard
