// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/spi/runtime.hpp>

#include <boost/asio/awaitable.hpp>

namespace pawl::guard {

// Waits for this time, on the coroutine's executor. Throws boost::system::system_error with
// operation_aborted after a cancellation.
boost::asio::awaitable<void> async_pause(spi::runtime& time, duration length);

}  // namespace pawl::guard
