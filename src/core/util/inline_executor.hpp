// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Starts coroutines from code that already runs on the strand.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <memory>
#include <utility>

namespace pawl::core {

// Calls functions at once, where the strand would allocate a copy, and an idle loop would poll its
// sockets first. For coroutines that begin on the strand and are resumed only there. What must not
// run at once goes to the strand. A copy needs no memory: it fits into an any_io_executor.
class inline_executor {
public:
    explicit inline_executor(std::shared_ptr<const boost::asio::any_io_executor> strand) noexcept
        : strand_(std::move(strand)) {}

    template <class Function>
    void execute(Function&& function) const {
        std::forward<Function>(function)();
    }

    // The functions that Asio calls to learn or to change the properties of an executor.
    static constexpr boost::asio::execution::blocking_t query(
        boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking_t::always;
    }
    [[nodiscard]] boost::asio::execution_context& query(
        boost::asio::execution::context_t) const noexcept {
        return boost::asio::query(
            *strand_, boost::asio::execution::context_as<boost::asio::execution_context&>);
    }
    [[nodiscard]] boost::asio::any_io_executor require(
        boost::asio::execution::blocking_t::never_t never) const {
        return boost::asio::require(*strand_, never);
    }
    bool operator==(const inline_executor& other) const noexcept = default;

private:
    std::shared_ptr<const boost::asio::any_io_executor> strand_;
};

}  // namespace pawl::core
