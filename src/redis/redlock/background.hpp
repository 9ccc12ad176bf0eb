// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the parts of a client of a set need of the client.
#pragma once

#include <pawl/types.hpp>

#include <boost/asio/awaitable.hpp>

#include <vector>

namespace pawl::redlock {

class background {
public:
    virtual ~background() = default;
    // Runs the operation; closing the client waits for its end.
    virtual void spawn(boost::asio::awaitable<void> operation) = 0;
    // Runs the operations at the same time, and ends with the last of them.
    virtual boost::asio::awaitable<void> join(
        std::vector<boost::asio::awaitable<void>> operations) = 0;
    // False: the client closes.
    virtual boost::asio::awaitable<bool> pause_until(time_point when) = 0;
    [[nodiscard]] virtual bool is_closing() const noexcept = 0;
};

}  // namespace pawl::redlock
