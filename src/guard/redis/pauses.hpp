// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Pauses between attempts, by the clock of the runtime.
#pragma once

#include <pawl/types.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>

namespace pawl::guard::redis {

// A random time up to the limit of this try: `first`, doubled with each try (from 0), at most
// `last`.
[[nodiscard]] duration random_pause(std::uint32_t tries, duration first, duration last);

void pause(duration time);
// Cancellation ends the pause with an exception.
[[nodiscard]] boost::asio::awaitable<void> async_pause(duration time);

}  // namespace pawl::guard::redis
