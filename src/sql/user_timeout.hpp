// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/types.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace pawl::sql {

// How long the peer may confirm nothing until the system ends the connection. A Unix socket has no
// such limit.
inline void set_user_timeout(int socket, duration limit) noexcept {
    const auto milliseconds = static_cast<unsigned>(limit / std::chrono::milliseconds(1));
    ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

}  // namespace pawl::sql
