// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The options of a service, and libpq's connection string in them.
#pragma once

#include <pawl/postgres.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::postgres {

// A server, or several servers with one name.
struct host_entry {
    std::string host;     // a name, an address, or the folder of a Unix socket; may be empty
    std::string address;  // numeric; empty: the host is looked up
    std::uint16_t port = 5432;

    [[nodiscard]] bool is_local() const noexcept {
        return address.empty() && (host.empty() || host.front() == '/' || host.front() == '@');
    }
    // "db.example:5432", "[::1]:5432", or the path of a Unix socket.
    [[nodiscard]] std::string text() const;
};

// What libpq needs for one connection.
struct connection_string {
    std::vector<host_entry> hosts;  // at least one
    std::string database;           // empty: libpq's default
    duration timeout{};             // of one address; 0: none
    // libpq's other parameters, such as user and password.
    std::vector<std::pair<std::string, std::string>> parameters;
};

// Throws errc::bad_option. The message never quotes the text, which may have a password.
[[nodiscard]] connection_string parse_connection(const std::string& text);

// Throws errc::bad_option.
void check_options(const options& settings);
// Throws errc::bad_url and errc::bad_option.
[[nodiscard]] options parse_options(std::string_view url);

// The URL for messages, without user, password and libpq's options.
[[nodiscard]] std::string describe(const options& settings);

// An identifier in double quotes; it has none itself.
[[nodiscard]] inline std::string quoted(std::string_view identifier) {
    return "\"" + std::string(identifier) + "\"";
}
void check_role(std::string_view role);

}  // namespace pawl::postgres
