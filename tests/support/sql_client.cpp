// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sql_client.hpp"

#include <libpq-fe.h>

namespace support {

sql_client::sql_client(const std::string& url)
    : connection_(::PQconnectdb(url.c_str()), &::PQfinish) {
    if (::PQstatus(connection_.get()) != CONNECTION_OK)
        throw sql_failure(::PQerrorMessage(connection_.get()), "");
    ::PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
}

std::vector<sql_row> sql_client::execute(const std::string& sql) {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        ::PQexec(connection_.get(), sql.c_str()), &::PQclear);
    const auto status = ::PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        const char* code = ::PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
        throw sql_failure(::PQerrorMessage(connection_.get()), code == nullptr ? "" : code);
    }
    std::vector<sql_row> rows(static_cast<std::size_t>(::PQntuples(result.get())));
    for (int row = 0; row < ::PQntuples(result.get()); ++row)
        for (int column = 0; column < ::PQnfields(result.get()); ++column) {
            auto& cell = rows[static_cast<std::size_t>(row)].emplace_back();
            if (::PQgetisnull(result.get(), row, column) == 0)
                cell = ::PQgetvalue(result.get(), row, column);
        }
    return rows;
}

std::string sql_client::value(const std::string& sql) {
    const auto rows = execute(sql);
    if (rows.empty() || rows.front().empty()) throw std::runtime_error("no row: " + sql);
    return rows.front().front().value_or("");
}

int sql_client::server_process() const noexcept { return ::PQbackendPID(connection_.get()); }

}  // namespace support
