// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "wakeup.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

// A cancellation of the coroutine cancels the timer of any runtime. The slot may outlive the timer.
// Asio calls a handler on the handler's own executor. That of a coroutine may be inline_executor,
// which would resume it on the timer's thread, so the handler is bound to the wakeup's executor.
struct start_wait {
    std::shared_ptr<timer> timer_to_start;
    time_point when;
    const asio::any_io_executor& executor;

    template <class Handler>
    void operator()(Handler&& handler) const {
        // The handler is type-erased first: that takes the slot of the handler inside.
        timer::wait_handler erased(asio::bind_executor(executor, std::forward<Handler>(handler)));
        auto slot = asio::get_associated_cancellation_slot(erased);
        if (slot.is_connected())
            slot.assign([weak = std::weak_ptr(timer_to_start)](asio::cancellation_type) {
                if (const auto alive = weak.lock()) alive->cancel();
            });
        timer_to_start->async_wait_until(when, std::move(erased));
    }
};

}  // namespace

void wakeup::prepare() {
    if (!timer_) timer_ = time_.make_timer(executor_);
}

asio::awaitable<bool> wakeup::wait_until(time_point when) {
    if (!is_notified_) {
        prepare();
        is_waiting_ = true;
        boost::system::error_code wait_error;
        const start_wait start{timer_, when, executor_};
        auto token = asio::redirect_error(asio::deferred, wait_error);
        co_await asio::async_initiate<decltype(token), void(boost::system::error_code)>(start,
                                                                                        token);
        is_waiting_ = false;
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none)
            throw boost::system::system_error(asio::error::operation_aborted);
    }
    co_return std::exchange(is_notified_, false);
}

void wakeup::notify() {
    is_notified_ = true;
    if (is_waiting_) timer_->cancel();
}

}  // namespace pawl::core
