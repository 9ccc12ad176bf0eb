// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `doctor` learns about one server, and what it finds in it.
#pragma once

#include "settings.hpp"

#include <pawl/examination.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::zookeeper {

struct server_state {
    std::string name;
    std::string failure;                             // why it cannot be reached; empty: it answered
    std::string version;                             // "3.9.5"; empty: the server does not say it
    std::string role;                                // "leader", "follower", "standalone" …
    duration shortest_session{}, longest_session{};  // 0: not known
};

// The answer to the command `srvr`.
void read_srvr(server_state& target, std::string_view answer);

// What is known about all of them.
[[nodiscard]] examination examination_of(const std::vector<server_state>& servers,
                                         const client_settings& settings);

}  // namespace pawl::zookeeper
