// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Calls the callers' completion handlers.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace pawl::core {

class completion_executor {
public:
    completion_executor(const boost::asio::any_io_executor& executor, bool is_serial)
        : is_serial_(is_serial), executor_(executor) {}

    // The default executor of the caller's handlers.
    [[nodiscard]] const boost::asio::any_io_executor& executor() const noexcept {
        return executor_;
    }
    // The caller's code runs on the caller's executor, never inside the strand. A serial executor
    // runs no caller's code: there, all handlers are Pawl's own.
    template <class Handler, class... Results>
    void complete(Handler handler, Results... results) const {
        if (is_serial_)
            std::move(handler)(results...);
        else
            boost::asio::post(executor_,
                              boost::asio::append(std::move(handler), std::move(results)...));
    }
    // Leaves nothing that uses the event loop.
    void dispose() noexcept { executor_ = {}; }

private:
    const bool is_serial_;
    boost::asio::any_io_executor executor_;
};

}  // namespace pawl::core
