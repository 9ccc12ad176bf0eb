// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/guard/async_connection.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

namespace pawl::guard {

// After a cancellation, no coroutine can be awaited any more, unless its state is reset first. A
// coroutine that cleans up does so itself, with this_coro::reset_cancellation_state.
[[nodiscard]] inline bool is_cancelled(const boost::asio::cancellation_state& state) noexcept {
    return state.cancelled() != boost::asio::cancellation_type::none;
}

// Runs the coroutine to its end; a cancellation of the caller does not reach it.
boost::asio::awaitable<void> run_uncancelled(boost::asio::awaitable<void> to_run);

// Ends the transaction, if there is one and the connection still works.
boost::asio::awaitable<void> roll_back(async_connection& db);

}  // namespace pawl::guard
