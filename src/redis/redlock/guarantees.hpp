// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What holds over independent servers: a row of docs/guide/guarantees.md.
#pragma once

#include <pawl/examination.hpp>

#include <cstddef>
#include <string>

namespace pawl::redlock {

[[nodiscard]] inline guarantee_row guarantees_of(std::size_t nodes, bool fenced,
                                                 bool has_sentinels = false) {
    return {.backend = std::string("Redlock, ") + (fenced ? "fenced" : "classic") + ", over " +
                       std::to_string(nodes) + " servers",
            .holder_crash = "holds, after the ttl",
            .holder_pause = "holds for holders that stop when told",
            .server_crash = fenced ? "holds for holders that stop when told"
                                   : "can break, a node that restarts without its data votes twice",
            .failover = has_sentinels ? "as a crash of that node" : "does not apply",
            .partition = "holds for holders that stop when told",
            .clock_jump = "can break, by one clock while only a majority has the lock",
            .token = fenced ? "never goes back" : "none"};
}

}  // namespace pawl::redlock
