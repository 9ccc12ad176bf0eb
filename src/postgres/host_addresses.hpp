// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The addresses of a host, since libpq's own look-up blocks.
#pragma once

#include "connection_string.hpp"

#include "../core/util/spi.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace pawl::postgres {

// In the order of the system; a single empty one for a Unix socket. Throws errc::unreachable, and
// errc::exhausted. Resumes on the strand.
[[nodiscard]] boost::asio::awaitable<std::vector<std::string>> addresses_of(
    const host_entry& host, time_point give_up_at, boost::asio::any_io_executor strand,
    runtime& time);

}  // namespace pawl::postgres
