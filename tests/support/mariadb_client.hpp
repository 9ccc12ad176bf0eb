// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A blocking connection to MariaDB, to prepare and to look at a test's server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct st_mysql;

namespace support {

using mariadb_row = std::vector<std::optional<std::string>>;  // empty: NULL

class mariadb_failure : public std::runtime_error {
public:
    mariadb_failure(const std::string& sentence, unsigned number)
        : std::runtime_error(sentence), number_(number) {}
    [[nodiscard]] unsigned number() const noexcept { return number_; }  // of the error

private:
    unsigned number_;
};

// Not thread-safe.
class mariadb_client {
public:
    // Throws mariadb_failure if the server refuses the connection.
    explicit mariadb_client(std::uint16_t port, const std::string& user = "root",
                            const std::string& password = {});
    // Root's, by this Unix socket.
    explicit mariadb_client(const std::string& socket);

    // The rows of the first result. Throws mariadb_failure.
    std::vector<mariadb_row> execute(const std::string& sql);
    // The first column of the first row, "" for NULL. Throws std::runtime_error without a row.
    std::string value(const std::string& sql);
    std::int64_t number(const std::string& sql) { return std::stoll(value(sql)); }
    // Statements between "delimiter //" and "delimiter ;", as the command mariadb reads them.
    void execute_script(const std::string& text);

private:
    void connect(const char* host, std::uint16_t port, const char* socket, const std::string& user,
                 const std::string& password);

    std::unique_ptr<st_mysql, void (*)(st_mysql*)> connection_;
};

}  // namespace support
