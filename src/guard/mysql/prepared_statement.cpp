// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "prepared_statement.hpp"

#include <errmsg.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <new>
#include <string_view>

namespace pawl::guard {
namespace {

// ER_CHECKREAD, ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK (also of Galera's COMMIT), that of a COMMIT
// in MySQL Group Replication (ER_TRANSACTION_ROLLBACK_DURING_COMMIT), ER_LOCK_NOWAIT.
constexpr std::array<unsigned, 5> conflict_numbers{1020, 1205, 1213, 3101, 3572};

[[noreturn]] void throw_mysql(unsigned number, const char* message) {
    const bool is_lost = number == CR_SERVER_GONE_ERROR || number == CR_SERVER_LOST ||
                         number == CR_SERVER_LOST_EXTENDED;
    if (is_mysql_conflict(number)) throw conflict(message, std::to_string(number));
    throw database_error(message, std::to_string(number), is_lost);
}

bool is_integer(const MYSQL_FIELD& column) {
    switch (column.type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
    case MYSQL_TYPE_YEAR: return true;
    default: return false;
    }
}

// An unsigned number above 63 bits stays a text.
value mysql_value(const MYSQL_FIELD& column, std::string text) {
    std::int64_t number = 0;
    const auto* end = text.data() + text.size();
    if (is_integer(column) && std::from_chars(text.data(), end, number).ptr == end) return number;
    return text;
}

bool is_update(std::string_view text) {
    static constexpr std::string_view word = "update";
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    return std::ranges::equal(text.substr(0, word.size()), word,
                              [](char a, char b) { return (a | ' ') == b; });
}

// "Rows matched: 3  Changed: 0  Warnings: 0", in the language of the session: the affected rows of
// an UPDATE are the changed ones.
std::uint64_t matched_rows(MYSQL* connection, std::string_view text) {
    const char* told = ::mysql_info(connection);
    std::string_view info(told == nullptr ? "" : told);
    std::uint64_t count = ::mysql_affected_rows(connection);
    if (is_update(text) || info.starts_with("Rows matched: ")) {
        info.remove_prefix(std::min(info.find_first_of("0123456789"), info.size()));
        std::from_chars(info.data(), info.data() + info.size(), count);
    }
    return count == ~std::uint64_t{0} ? 0 : count;
}

// Where a literal or a comment begins that may contain a question mark. A literal such as
// '1970-01-01' has none, and no escape.
std::size_t end_of_certain_places(std::string_view text) {
    const auto comment = std::min(text.find("--"), text.find("/*"));
    for (std::size_t from = 0;;) {
        const auto at = std::min(text.find_first_of("'\"`#", from), comment);
        if (at == comment || text[at] != '\'') return at;
        const auto end = text.find_first_of("'\\?", at + 1);
        if (end == std::string_view::npos || text[end] != '\'') return at;
        from = end + 1;
    }
}

}  // namespace

bool is_mysql_conflict(unsigned number) noexcept {
    return std::ranges::find(conflict_numbers, number) != conflict_numbers.end();
}

void throw_mysql_failure(MYSQL* connection) {
    throw_mysql(::mysql_errno(connection), ::mysql_error(connection));
}

bool is_in_mysql_transaction(MYSQL* connection) noexcept {
    unsigned status = 0;
    ::mariadb_get_infov(connection, MARIADB_CONNECTION_SERVER_STATUS, &status);
    return (status & SERVER_STATUS_IN_TRANS) != 0 || (status & SERVER_STATUS_AUTOCOMMIT) == 0;
}

rows text_rows_of(MYSQL* connection, MYSQL_RES* stored, std::string_view text) {
    rows answer;
    if (stored == nullptr) {
        if (::mysql_errno(connection) != 0) throw_mysql_failure(connection);
        answer.matched = matched_rows(connection, text);
        return answer;
    }
    const MYSQL_FIELD* columns = ::mysql_fetch_fields(stored);
    const auto count = ::mysql_num_fields(stored);
    while (MYSQL_ROW row = ::mysql_fetch_row(stored)) {
        const unsigned long* lengths = ::mysql_fetch_lengths(stored);
        auto& values = answer.values.emplace_back();
        for (unsigned i = 0; i < count; ++i)
            if (row[i] == nullptr)
                values.emplace_back();
            else
                values.push_back(mysql_value(columns[i], std::string(row[i], lengths[i])));
    }
    answer.matched = answer.values.size();
    return answer;
}

// All values are fetched as strings, in two steps: the length, then the bytes.
struct mysql_prepared::field {
    MYSQL_FIELD column;
    unsigned long length = 0;
    my_bool is_null = 0;
    my_bool is_truncated = 0;
};

mysql_prepared::mysql_prepared(MYSQL* connection, const statement& to_run)
    : connection_(connection), to_run_(to_run), statement_(::mysql_stmt_init(connection)) {
    if (!statement_) throw std::bad_alloc();
}

void mysql_prepared::throw_failure() const {
    throw_mysql(::mysql_stmt_errno(get()), ::mysql_stmt_error(get()));
}

bool mysql_prepared::has_a_place_for_each() const {
    const std::string_view text = to_run_.text;
    return std::ranges::count(text, '?') == std::ssize(to_run_.parameters) &&
           text.find_last_of('?') < end_of_certain_places(text);
}

void mysql_prepared::bind_unprepared() {
    const auto count = static_cast<unsigned>(to_run_.parameters.size());
    if (::mysql_stmt_attr_set(get(), STMT_ATTR_PREBIND_PARAMS, &count) != 0) throw_failure();
    bind_parameters();
}

void mysql_prepared::bind_parameters() {
    if (::mysql_stmt_param_count(get()) != to_run_.parameters.size())
        throw database_error(
            "The statement has " + std::to_string(::mysql_stmt_param_count(get())) +
            " places for parameters, and " + std::to_string(to_run_.parameters.size()) +
            " parameters; give each ? one parameter.");
    for (const auto& each : to_run_.parameters) {
        auto& place = parameters_.emplace_back();
        if (const auto* number = std::get_if<std::int64_t>(&each)) {
            place.buffer_type = MYSQL_TYPE_LONGLONG;
            place.buffer = const_cast<std::int64_t*>(number);
        } else if (const auto* text = std::get_if<std::string>(&each)) {
            place.buffer_type = to_run_.is_binary ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
            place.buffer = const_cast<char*>(text->data());
            place.buffer_length = text->size();
        } else {
            place.buffer_type = MYSQL_TYPE_NULL;
        }
    }
    if (::mysql_stmt_bind_param(get(), parameters_.data()) != 0) throw_failure();
}

bool mysql_prepared::has_rows() const noexcept { return ::mysql_stmt_field_count(get()) != 0; }

std::vector<value> mysql_prepared::read_row(std::vector<field>& fields) {
    std::vector<value> values;
    for (unsigned i = 0; i < fields.size(); ++i) {
        auto& each = fields[i];
        if (each.is_null != 0) {
            values.emplace_back();
            continue;
        }
        std::string text(each.length, '\0');
        MYSQL_BIND place{};
        place.buffer_type = MYSQL_TYPE_STRING;
        place.buffer = text.data();
        place.buffer_length = text.size();
        place.length = &each.length;
        place.is_null = &each.is_null;
        place.error = &each.is_truncated;
        if (!text.empty() && ::mysql_stmt_fetch_column(get(), &place, i, 0) != 0) throw_failure();
        values.push_back(mysql_value(each.column, std::move(text)));
    }
    return values;
}

rows mysql_prepared::read() {
    rows answer;
    if (!has_rows()) {
        answer.matched = matched_rows(connection_, to_run_.text);
        return answer;
    }
    const std::unique_ptr<MYSQL_RES, decltype(&::mysql_free_result)> described(
        ::mysql_stmt_result_metadata(get()), &::mysql_free_result);
    if (!described) throw_failure();
    std::vector<field> fields;
    for (unsigned i = 0; i < ::mysql_num_fields(described.get()); ++i)
        fields.push_back({::mysql_fetch_fields(described.get())[i]});
    std::vector<MYSQL_BIND> places(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        places[i].buffer_type = MYSQL_TYPE_STRING;
        places[i].length = &fields[i].length;
        places[i].is_null = &fields[i].is_null;
        places[i].error = &fields[i].is_truncated;
    }
    if (::mysql_stmt_bind_result(get(), places.data()) != 0) throw_failure();
    for (;;) {
        const int status = ::mysql_stmt_fetch(get());
        if (status == MYSQL_NO_DATA) break;
        if (status == 1) throw_failure();
        answer.values.push_back(read_row(fields));
    }
    answer.matched = answer.values.size();
    return answer;
}

}  // namespace pawl::guard
