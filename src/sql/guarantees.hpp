// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The guarantees that locks in all databases have in common. A backend changes what its settings
// change.
#pragma once

#include <pawl/examination.hpp>

#include <string>
#include <utility>

namespace pawl::sql {

// `copy` is the database's word for a server with a copy of the data. `has_pause`: after a failover
// nothing is granted for the longest ttl.
[[nodiscard]] inline guarantee_row lease_guarantees(std::string backend, const std::string& copy,
                                                    bool has_pause) {
    return {.backend = std::move(backend),
            .holder_crash = "holds, after the ttl",
            .holder_pause = "holds for holders that stop when told",
            .server_crash = "holds",
            .failover = has_pause ? "holds, after a pause of the longest ttl"
                                  : "can break: a " + copy + " may not know the lock",
            .partition = "can break: an old primary that goes on grants the lock, too",
            .clock_jump = "can break",
            .token = "never goes back while the server's clock is right"};
}

// Of locks that end with a session.
[[nodiscard]] inline guarantee_row session_guarantees(std::string backend,
                                                      const std::string& copy) {
    return {.backend = std::move(backend),
            .holder_crash = "holds, at once, or after the ttl if its host has gone",
            .holder_pause = "holds for holders that stop when told",
            .server_crash = "can break: the server forgets every lock",
            .failover = "can break: a " + copy + " knows no lock",
            .partition = "can break: an old primary that goes on grants the lock, too",
            .clock_jump = "holds",
            .token = "none"};
}

}  // namespace pawl::sql
