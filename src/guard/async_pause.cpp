// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_pause.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace pawl::guard {

namespace asio = boost::asio;

asio::awaitable<void> async_pause(spi::runtime& time, duration length) {
    const auto executor = co_await asio::this_coro::executor;
    const auto timer = time.make_timer(executor);
    // A later cancellation must not find the timer.
    struct slot_clearer {
        asio::cancellation_slot slot;
        ~slot_clearer() { slot.clear(); }
    };
    const auto state = co_await asio::this_coro::cancellation_state;
    const slot_clearer at_end{state.slot()};
    const auto until = time.now() + length;
    const auto start = [](auto handler, spi::timer* waiting, time_point when) {
        spi::timer::wait_handler erased(std::move(handler));
        auto slot = asio::get_associated_cancellation_slot(erased);
        if (slot.is_connected())
            slot.assign([waiting](asio::cancellation_type) { waiting->cancel(); });
        waiting->async_wait_until(when, std::move(erased));
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void(boost::system::error_code)>(
        start, asio::use_awaitable, timer.get(), until);
}

}  // namespace pawl::guard
