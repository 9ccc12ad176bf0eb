// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "results.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace pawl::guard {
namespace {

// Of pg_type, which never changes them.
constexpr Oid bool_type = 16, bytea_type = 17, int8_type = 20, int2_type = 21, int4_type = 23;

constexpr std::array<std::string_view, 3> conflict_codes{"40001", "40P01", "55P03"};

std::string first_line_of(const char* message) {
    std::string_view text(message == nullptr ? "" : message);
    return std::string(text.substr(0, text.find('\n')));
}

std::string bytes_of(const char* escaped) {
    std::size_t length = 0;
    const std::unique_ptr<unsigned char, decltype(&::PQfreemem)> bytes(
        ::PQunescapeBytea(reinterpret_cast<const unsigned char*>(escaped), &length), &::PQfreemem);
    if (!bytes) throw std::bad_alloc();
    return {reinterpret_cast<const char*>(bytes.get()), length};
}

value postgres_value(const PGresult* result, int row, int column) {
    if (::PQgetisnull(result, row, column) != 0) return {};
    const char* text = ::PQgetvalue(result, row, column);
    const std::string_view whole(text,
                                 static_cast<std::size_t>(::PQgetlength(result, row, column)));
    switch (::PQftype(result, column)) {
    case bool_type: return std::int64_t{whole == "t"};
    case int2_type:
    case int4_type:
    case int8_type: {
        std::int64_t number = 0;
        std::from_chars(whole.data(), whole.data() + whole.size(), number);
        return number;
    }
    case bytea_type: return bytes_of(text);
    default: return std::string(whole);
    }
}

// In a transaction that an error has ended, the server answers COMMIT with a rollback.
bool is_refused_commit(const PGresult* result, std::string_view text) {
    const std::string_view tag = ::PQcmdStatus(const_cast<PGresult*>(result));
    return tag == "ROLLBACK" && text == "COMMIT";
}

}  // namespace

void throw_postgres_failure(PGconn* connection) {
    throw database_error(first_line_of(::PQerrorMessage(connection)), {},
                         ::PQstatus(connection) != CONNECTION_OK);
}

bool is_in_postgres_transaction(const PGconn* connection) noexcept {
    const auto status = ::PQtransactionStatus(connection);
    return status != PQTRANS_IDLE && status != PQTRANS_UNKNOWN;
}

rows rows_of(PGconn* connection, const PGresult* result, std::string_view text) {
    const auto status = ::PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        const char* code = ::PQresultErrorField(result, PG_DIAG_SQLSTATE);
        if (code == nullptr) throw_postgres_failure(connection);
        const auto message = first_line_of(::PQresultErrorMessage(result));
        if (std::ranges::find(conflict_codes, code) != conflict_codes.end())
            throw conflict(message, code);
        throw database_error(message, code, ::PQstatus(connection) != CONNECTION_OK);
    }
    if (is_refused_commit(result, text))
        throw database_error(
            "An error in the transaction was caught, and its COMMIT has rolled it back.", "25P02");
    rows answer;
    const int columns = ::PQnfields(result);
    for (int row = 0; row < ::PQntuples(result); ++row) {
        auto& values = answer.values.emplace_back();
        for (int column = 0; column < columns; ++column)
            values.push_back(postgres_value(result, row, column));
    }
    const std::string_view count = ::PQcmdTuples(const_cast<PGresult*>(result));
    std::from_chars(count.data(), count.data() + count.size(), answer.matched);
    return answer;
}

}  // namespace pawl::guard
