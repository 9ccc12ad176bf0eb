// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "guarded.hpp"

#include <pawl/client.hpp>

#include <boost/asio/awaitable.hpp>

namespace pawl::guard {

// As acquire_in_front, for coroutines.
[[nodiscard]] boost::asio::awaitable<std::optional<held_lock>> async_acquire_in_front(
    client& locks, std::string name, const once_options& options);

}  // namespace pawl::guard
