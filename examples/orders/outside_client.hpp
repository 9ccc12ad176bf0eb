// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Clients of the service in outside.hpp. Blocking; not thread-safe. Each call is a connection of
// its own.
#pragma once

#include "partner.hpp"

#include <chrono>
#include <cstdint>

namespace shop {

// Where the service is, and how long a call may take.
struct outside_address {
    std::uint16_t port = 0;  // on 127.0.0.1
    std::chrono::milliseconds limit = std::chrono::seconds(10);
};

class outside_partner final : public partner {
public:
    explicit outside_partner(const outside_address& address) noexcept : address_(address) {}
    // 504 if no answer came within the limit, for whatever reason.
    answer post(const std::string& path, const std::string& body,
                const header_list& headers) override;

private:
    outside_address address_;
};

class outside_source final : public source {
public:
    // `page` is "channel" or "platform".
    outside_source(const outside_address& address, std::string page)
        : address_(address), page_(std::move(page)) {}
    // Throws std::runtime_error if no answer came.
    std::string state(const std::string& order) override;
    // Changes what the page says.
    void set_state(const std::string& order, const std::string& state);

private:
    outside_address address_;
    std::string page_;
};

}  // namespace shop
