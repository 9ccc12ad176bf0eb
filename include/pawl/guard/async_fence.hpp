// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A row that refuses the writes of a late holder, for coroutines: as pawl/guard/fence.hpp.
#pragma once

#include <pawl/guard/async_connection.hpp>
#include <pawl/guard/fence.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace pawl::guard {

// As `fence`. `db` must outlive the call. Cancellation: as that of `db`.
boost::asio::awaitable<fence_result> async_fence(async_connection& db, std::string resource,
                                                 fencing_token token);

}  // namespace pawl::guard
