// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Says where the server of a link is. A service with one fixed server has a fixed_locator.
#pragma once

#include "../../net/endpoint.hpp"

#include <pawl/types.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace pawl::redis {

struct location {
    net::endpoint server;
    // Grows each time another server takes the place of the last one; 0 if that never happens.
    std::uint64_t epoch = 0;

    bool operator==(const location&) const = default;
};

// Used on one strand.
class locator {
public:
    virtual ~locator() = default;

    // Called before each connection attempt. Throws pawl::error when the server is not known at
    // `give_up_at`; then another attempt follows. When the server changes later, the owner of the
    // link calls `reconnecting_link::reconnect`.
    virtual boost::asio::awaitable<location> next(time_point give_up_at) = 0;
    // Called after each successful handshake. False: the server has another location or epoch than
    // `connected` by now, so the connection may lead to a server that is no longer the one.
    // `connected` must outlive the call.
    virtual boost::asio::awaitable<bool> confirm(const location& connected, time_point give_up_at);
    // The link closes: `next` ends soon.
    virtual void stop() noexcept {}

    // For messages: what is known while no connection is made. Empty if nothing is.
    [[nodiscard]] virtual std::string progress() const { return {}; }
    // For messages: what to do while there is no connection, after a semicolon.
    [[nodiscard]] virtual std::string advice() const {
        return "check that the server runs there and the URL is right";
    }
};

inline boost::asio::awaitable<bool> locator::confirm(const location&, time_point) {
    co_return true;
}

class fixed_locator final : public locator {
public:
    explicit fixed_locator(net::endpoint server) : location_{std::move(server)} {}
    boost::asio::awaitable<location> next(time_point) override { co_return location_; }

private:
    const location location_;
};

}  // namespace pawl::redis
