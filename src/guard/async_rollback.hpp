// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/guard/async_connection.hpp>

namespace pawl::guard {

// After a cancellation, nothing could be awaited any more: the clean-up does so after this call.
boost::asio::awaitable<void> forget_cancellation();
// Ends the transaction, if there is one and the connection still works.
boost::asio::awaitable<void> roll_back(async_connection& db);

}  // namespace pawl::guard
