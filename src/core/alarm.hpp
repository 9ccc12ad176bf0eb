// A sleep that can be ended early: the one thing that coroutines here wait on.
#pragma once

#include <pawl/runtime.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>

namespace pawl::core {

// One waiter at a time; used on one strand.
class alarm {
public:
    alarm(runtime& time, boost::asio::any_io_executor on) : time_(time), on_(std::move(on)) {}

    // Makes the timer, which may fail, now.
    void prepare();

    // True when it was rung, also when that was before the call; false at `when`. Throws on
    // cancellation.
    boost::asio::awaitable<bool> wait_until(time_point when);

    // Ends the present wait, or the next one at once.
    void ring();

private:
    runtime& time_;
    const boost::asio::any_io_executor on_;
    std::shared_ptr<timer> timer_;  // made for the first wait: most alarms never ring
    bool waiting_ = false;
    bool rung_ = false;
};

}  // namespace pawl::core
