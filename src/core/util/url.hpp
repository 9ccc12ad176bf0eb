// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Parses the URLs of lock services. Messages never contain the user or the password.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::core {

struct host_port {
    std::string host;
    std::optional<std::uint16_t> port;
};

// NAME=HOST[:PORT][+HOST[:PORT]…]: hosts that know a server by this name.
struct host_group {
    std::string name;
    std::vector<host_port> hosts;
};

struct url {
    std::string scheme;
    std::optional<std::string> user;
    std::optional<std::string> password;
    // Several for a list with commas; none in SCHEME:PATH and SCHEME:///PATH.
    std::vector<host_port> hosts;
    // The entries of that list that are groups, which only the schemes of Redlock may have.
    std::vector<host_group> groups;
    std::string path;  // decoded, with its first slash
    std::vector<std::pair<std::string, std::string>> options;
};

// SCHEME://[USER[:PASSWORD]@][HOST][:PORT][,…][/PATH][?KEY=VALUE&…] or SCHEME:PATH, with groups in
// place of hosts, percent-decoded. Throws errc::bad_url, and errc::bad_option for a duplicate
// option.
[[nodiscard]] url parse_url(std::string_view text);

// The host of a scheme that takes one server; empty if the URL names none. Throws errc::bad_url for
// a list.
[[nodiscard]] host_port single_host(const url& parsed);

// The text that parse_url reads as this path.
[[nodiscard]] std::string encode_path(std::string_view path);
// Adds "?name=value", or "&name=value" after the first option.
void append_option(std::string& url, std::string_view name, std::string_view value);

// The scheme; empty if there is none.
[[nodiscard]] std::string_view scheme_of(std::string_view text) noexcept;

}  // namespace pawl::core
