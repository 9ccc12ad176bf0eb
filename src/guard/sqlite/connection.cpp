// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "run_statement.hpp"

#include <pawl/guard/sqlite.hpp>

#include <sqlite3.h>

#include <memory>

namespace pawl::guard {
namespace {

struct finalize {
    void operator()(sqlite3_stmt* prepared) const noexcept { ::sqlite3_finalize(prepared); }
};
using prepared_statement = std::unique_ptr<sqlite3_stmt, finalize>;

[[noreturn]] void throw_sqlite_failure(sqlite3* handle) {
    const int code = ::sqlite3_errcode(handle) & 0xff;  // the connection may use extended codes
    const std::string sentence = ::sqlite3_errmsg(handle);
    const auto number = std::to_string(::sqlite3_extended_errcode(handle));
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) throw conflict(sentence, number);
    throw database_error(sentence, number);
}

void bind(sqlite3* handle, sqlite3_stmt* prepared, const statement& to_run) {
    const auto places = static_cast<std::size_t>(::sqlite3_bind_parameter_count(prepared));
    if (places != to_run.parameters.size())
        throw database_error("The statement has " + std::to_string(places) +
                             " places for parameters, and " +
                             std::to_string(to_run.parameters.size()) +
                             " parameters; give each place one parameter.");
    int index = 0;
    for (const auto& each : to_run.parameters) {
        int code = SQLITE_OK;
        ++index;
        if (const auto* number = std::get_if<std::int64_t>(&each))
            code = ::sqlite3_bind_int64(prepared, index, *number);
        else if (const auto* text = std::get_if<std::string>(&each))
            code = to_run.is_binary
                       ? ::sqlite3_bind_blob64(prepared, index, text->data(), text->size(),
                                               SQLITE_STATIC)
                       : ::sqlite3_bind_text64(prepared, index, text->data(), text->size(),
                                               SQLITE_STATIC, SQLITE_UTF8);
        if (code != SQLITE_OK) throw_sqlite_failure(handle);
    }
}

value sqlite_value(sqlite3_stmt* prepared, int column) {
    switch (::sqlite3_column_type(prepared, column)) {
    case SQLITE_NULL: return {};
    case SQLITE_INTEGER: return std::int64_t{::sqlite3_column_int64(prepared, column)};
    default: break;
    }
    // Of a BLOB its bytes, and of the others their text.
    const auto* bytes = static_cast<const char*>(
        ::sqlite3_column_type(prepared, column) == SQLITE_BLOB
            ? ::sqlite3_column_blob(prepared, column)
            : static_cast<const void*>(::sqlite3_column_text(prepared, column)));
    const auto length = static_cast<std::size_t>(::sqlite3_column_bytes(prepared, column));
    return length == 0 ? std::string() : std::string(bytes, length);
}

}  // namespace

rows run_statement(sqlite3* handle, const statement& to_run) {
    sqlite3_stmt* made = nullptr;
    const auto size = static_cast<int>(to_run.text.size());
    if (::sqlite3_prepare_v2(handle, to_run.text.data(), size, &made, nullptr) != SQLITE_OK)
        throw_sqlite_failure(handle);
    const prepared_statement prepared(made);
    bind(handle, made, to_run);
    const int changes_before = ::sqlite3_total_changes(handle);
    rows answer;
    int code = ::sqlite3_step(made);
    for (; code == SQLITE_ROW; code = ::sqlite3_step(made)) {
        auto& values = answer.values.emplace_back();
        for (int column = 0; column < ::sqlite3_column_count(made); ++column)
            values.push_back(sqlite_value(made, column));
    }
    if (code != SQLITE_DONE) throw_sqlite_failure(handle);
    // The library keeps the count of the last statement that changed rows.
    if (::sqlite3_stmt_readonly(made) != 0)
        answer.matched = answer.values.size();
    else if (::sqlite3_total_changes(handle) != changes_before)
        answer.matched = static_cast<std::uint64_t>(::sqlite3_changes(handle));
    return answer;
}

rows sqlite_connection::execute(const statement& to_run) { return run_statement(handle_, to_run); }

bool sqlite_connection::in_transaction() const noexcept {
    return ::sqlite3_get_autocommit(handle_) == 0;
}

}  // namespace pawl::guard
