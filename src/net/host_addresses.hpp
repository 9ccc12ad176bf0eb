// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The addresses of a host as text, for client libraries whose own look-up blocks.
#pragma once

#include "../core/util/spi.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace pawl::net {

// At least one numeric address, in the order of the system; the host itself if it is one. `server`
// is whose host it is, for messages, such as "a database". Throws errc::unreachable, and
// errc::exhausted. Resumes on the strand.
[[nodiscard]] boost::asio::awaitable<std::vector<std::string>> host_addresses(
    std::string host, std::string server, time_point give_up_at,
    boost::asio::any_io_executor strand, runtime& time);

}  // namespace pawl::net
