// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_turns.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace pawl::guard {

namespace asio = boost::asio;

asio::awaitable<void> wait_until(spi::timer& timer, time_point when) {
    const auto start = [](auto handler, spi::timer* waiting, time_point until) {
        waiting->async_wait_until(until, spi::timer::wait_handler(std::move(handler)));
    };
    boost::system::error_code cancelled;
    auto token = asio::redirect_error(asio::use_awaitable, cancelled);
    co_await asio::async_initiate<decltype(token), void(boost::system::error_code)>(start, token,
                                                                                    &timer, when);
}

asio::awaitable<async_turns::turn> async_turns::enter() {
    if (std::exchange(is_taken_, true)) {
        const auto executor = co_await asio::this_coro::executor;
        const auto timer = spi::real_runtime().make_timer(executor);
        // The event loop may be destroyed meanwhile.
        struct place {
            std::list<spi::timer*>& list;
            spi::timer* own;
            ~place() { list.remove(own); }
        };
        waiters_.push_back(timer.get());
        const place in_list{waiters_, timer.get()};
        const auto never = spi::real_runtime().now() + std::chrono::hours(24 * 365);
        co_await wait_until(*timer, never);
    }
    co_return turn(*this);
}

// The turn passes to the next one.
void async_turns::leave() noexcept {
    if (waiters_.empty()) {
        is_taken_ = false;
        return;
    }
    auto* const next = waiters_.front();
    waiters_.pop_front();
    next->cancel();
}

}  // namespace pawl::guard
