// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backend over locks of the database's own that belong to sessions. The server gives a lock
// back when its session ends, and ends a session that is idle for the ttl. So a hold is a lease
// whose renewal is a round trip on its session.
#pragma once

#include "lock_session.hpp"

#include <memory>

namespace pawl::sql {

[[nodiscard]] std::unique_ptr<backend> make_session_backend(
    std::unique_ptr<lock_connector> database, const backend_context& context);

}  // namespace pawl::sql
