// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The look-up of the name of a link's host. At most one look-up runs at a time.
#pragma once

#include "../../core/util/wakeup.hpp"
#include "../../net/endpoint.hpp"
#include "../../net/name_look_up.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace pawl::redis {

// Used on one strand.
class host_look_up {
public:
    using result_handler = std::function<void(net::addresses)>;

    host_look_up(runtime& time, const boost::asio::any_io_executor& strand)
        : strand_(strand), ended_(time, strand) {}

    [[nodiscard]] bool is_running() const noexcept { return !running_.expired(); }
    // Of the newest look-up; no error while it runs.
    [[nodiscard]] const boost::system::error_code& failure() const noexcept { return failure_; }

    // Does nothing while a look-up runs. `owner` keeps this object alive until the look-up ends.
    // Throws as `net::name_look_up`.
    void begin(std::shared_ptr<void> owner, const net::endpoint& server,
               result_handler on_resolved);
    // Waits for the end of the look-up, or for `end_wait`.
    [[nodiscard]] boost::asio::awaitable<bool> wait_until(time_point when) {
        return ended_.wait_until(when);
    }
    void end_wait() { ended_.notify(); }
    // The running look-up was for another host: its result does not count.
    void forget() noexcept;
    // The same for every look-up from now on.
    void stop();

private:
    boost::asio::awaitable<void> run(std::shared_ptr<void> owner,
                                     std::shared_ptr<net::name_look_up> started, std::uint16_t port,
                                     result_handler on_resolved);

    const boost::asio::any_io_executor strand_;
    std::weak_ptr<net::name_look_up> running_;
    boost::system::error_code failure_;
    core::wakeup ended_;
    bool is_stopped_ = false;
};

}  // namespace pawl::redis
