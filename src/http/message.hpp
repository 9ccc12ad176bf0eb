// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One request of HTTP, and its response.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::http {

using headers = std::vector<std::pair<std::string, std::string>>;

struct request {
    std::string method = "GET";
    std::string target{};  // the path with its query, percent-encoded
    http::headers headers{};
    std::string body{};
    std::size_t body_limit = 1024 * 1024;  // of the response
    // The server waits before it responds. The request has a connection of its own.
    bool is_long = false;
};

struct response {
    unsigned status = 0;
    http::headers headers{};
    std::string body{};

    // The header's value; empty without one. `name` is in lower case.
    [[nodiscard]] std::string_view header(std::string_view name) const noexcept {
        const auto is_named = [name](const auto& each) {
            return std::ranges::equal(each.first, name, [](unsigned char a, unsigned char b) {
                return std::tolower(a) == b;
            });
        };
        const auto position = std::ranges::find_if(headers, is_named);
        return position == headers.end() ? std::string_view() : std::string_view(position->second);
    }
};

}  // namespace pawl::http
