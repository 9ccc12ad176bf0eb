// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The addresses of a server's host.
#pragma once

#include "../core/util/spi.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace pawl::mysql {

// At least one numeric address. Throws errc::unreachable.
boost::asio::awaitable<std::vector<std::string>> addresses_of(std::string host,
                                                              time_point give_up_at,
                                                              boost::asio::any_io_executor strand,
                                                              runtime& time);

}  // namespace pawl::mysql
