// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs a script by its digest, or by its text when the server does not know the digest.
#pragma once

#include "script_call.hpp"

#include "../transport/link.hpp"

#include <boost/asio/awaitable.hpp>

namespace pawl::redis {

// Returns the server's reply, also if it is an error (except NOSCRIPT). Throws as `link::exec`
// does. The link, keys and arguments must outlive the coroutine. `tracked` as in `link::exec`.
[[nodiscard]] boost::asio::awaitable<reply> run_script(link& server_link, script_call call,
                                                       time_point give_up_at, bool tracked = false);

}  // namespace pawl::redis
