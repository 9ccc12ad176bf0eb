// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Asks a server, or a Sentinel, whether it needs a password.
#pragma once

#include "../transport/connection_settings.hpp"
#include "core/util/spi.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace pawl::redis {

// True: it answers a client that gives no password. Empty: it gives no answer, or is not at a
// HOST:PORT. `name`: its address, as `text_of` an endpoint. `settings` must outlive the call.
[[nodiscard]] boost::asio::awaitable<std::optional<bool>> is_open_to_all(
    const connection_settings& settings, std::string name, runtime& time);

}  // namespace pawl::redis
