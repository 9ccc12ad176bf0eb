// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "mariadb_client.hpp"

#include <mysql.h>

namespace support {

mariadb_client::mariadb_client(std::uint16_t port, const std::string& user,
                               const std::string& password)
    : connection_(::mysql_init(nullptr), &::mysql_close) {
    connect("127.0.0.1", port, nullptr, user, password);
}

mariadb_client::mariadb_client(const std::string& socket)
    : connection_(::mysql_init(nullptr), &::mysql_close) {
    connect("localhost", 0, socket.c_str(), "root", {});
}

void mariadb_client::connect(const char* host, std::uint16_t port, const char* socket,
                             const std::string& user, const std::string& password) {
    const unsigned limit = 5;
    ::mysql_optionsv(connection_.get(), MYSQL_OPT_CONNECT_TIMEOUT, &limit);
    if (::mysql_real_connect(connection_.get(), host, user.c_str(), password.c_str(), nullptr, port,
                             socket, CLIENT_MULTI_RESULTS) == nullptr)
        throw mariadb_failure(::mysql_error(connection_.get()), ::mysql_errno(connection_.get()));
}

std::vector<mariadb_row> mariadb_client::execute(const std::string& sql) {
    MYSQL* const connection = connection_.get();
    std::vector<mariadb_row> rows;
    int status = ::mysql_real_query(connection, sql.data(), sql.size());
    for (bool is_first = true; status == 0; status = ::mysql_next_result(connection)) {
        const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> result(
            ::mysql_store_result(connection), [](MYSQL_RES* each) { ::mysql_free_result(each); });
        while (MYSQL_ROW values = result ? ::mysql_fetch_row(result.get()) : nullptr) {
            if (!is_first) continue;
            const unsigned long* lengths = ::mysql_fetch_lengths(result.get());
            auto& row = rows.emplace_back(::mysql_num_fields(result.get()));
            for (std::size_t i = 0; i < row.size(); ++i)
                if (values[i] != nullptr) row[i].emplace(values[i], lengths[i]);
        }
        is_first = false;
    }
    if (status > 0) throw mariadb_failure(::mysql_error(connection), ::mysql_errno(connection));
    return rows;
}

std::string mariadb_client::value(const std::string& sql) {
    const auto rows = execute(sql);
    if (rows.empty() || rows.front().empty()) throw std::runtime_error("no row: " + sql);
    return rows.front().front().value_or("");
}

void mariadb_client::execute_script(const std::string& text) {
    constexpr std::string_view first = "delimiter //\n", mark = "//\n";
    auto begin = text.find(first) + first.size();
    for (auto end = text.find(mark, begin); end != text.npos; end = text.find(mark, begin)) {
        execute(text.substr(begin, end - begin));
        begin = end + mark.size();
    }
}

}  // namespace support
