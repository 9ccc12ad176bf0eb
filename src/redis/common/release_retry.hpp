// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Repeats a release whose outcome is unknown.
#pragma once

#include "client_tasks.hpp"
#include "server_access.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace pawl::redis {

// Repeats the release until the server executes it or finally rejects it, at most for the ttl, and
// only while the backend is open. The arguments must outlive the operation.
boost::asio::awaitable<void> retry_release(server_access& access, client_tasks& tasks,
                                           std::string key, const request_sender& send,
                                           duration ttl);

}  // namespace pawl::redis
