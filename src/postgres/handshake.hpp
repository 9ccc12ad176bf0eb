// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The first statements of a session.
#pragma once

#include "connection.hpp"

#include <pawl/postgres.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::postgres {

// Checks the server, makes the schema if it is missing and may be made, and says hello. Throws
// errc::unavailable for a server that accepts no writes. `log` may be empty. `activity` names what
// takes long, see sql::connector.
[[nodiscard]] boost::asio::awaitable<sql::session_facts> shake_hands(
    std::shared_ptr<connection> session, const options& settings, runtime& time,
    std::function<void(std::string_view)> log, std::string& activity, time_point give_up_at);

}  // namespace pawl::postgres
