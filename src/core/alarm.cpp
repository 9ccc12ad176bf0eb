#include "alarm.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

namespace asio = boost::asio;

namespace pawl::core {
namespace {

// Cancellation of the coroutine cancels the timer, whichever runtime made it. The slot may outlive
// the timer.
struct start_wait {
    std::shared_ptr<timer> sleeper;
    time_point when;

    template <class Handler>
    void operator()(Handler&& done) const {
        // Erased first: making the erased handler takes the slot for itself.
        timer::handler erased(std::forward<Handler>(done));
        auto slot = asio::get_associated_cancellation_slot(erased);
        if (slot.is_connected())
            slot.assign([weak = std::weak_ptr(sleeper)](asio::cancellation_type) {
                if (const auto alive = weak.lock()) alive->cancel();
            });
        sleeper->async_wait_until(when, std::move(erased));
    }
};

}  // namespace

void alarm::prepare() {
    if (!timer_) timer_ = time_.make_timer(on_);
}

asio::awaitable<bool> alarm::wait_until(time_point when) {
    if (!rung_) {
        prepare();
        waiting_ = true;
        boost::system::error_code ended;
        const start_wait start{timer_, when};
        auto token = asio::redirect_error(asio::deferred, ended);
        co_await asio::async_initiate<decltype(token), void(boost::system::error_code)>(start,
                                                                                        token);
        waiting_ = false;
        const auto cancelled = co_await asio::this_coro::cancellation_state;
        if (cancelled.cancelled() != asio::cancellation_type::none)
            throw boost::system::system_error(asio::error::operation_aborted);
    }
    co_return std::exchange(rung_, false);
}

void alarm::ring() {
    rung_ = true;
    if (waiting_) timer_->cancel();
}

}  // namespace pawl::core
