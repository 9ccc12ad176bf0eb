// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The arguments of a script that depend on the server that executes it.
#pragma once

#include "short_text.hpp"

#include <string_view>

namespace pawl::redis {

// The views must outlive the request.
struct server_words {
    std::string_view publish_command;  // PUBLISH or SPUBLISH
    std::string_view count_command;    // of PUBSUB: NUMSUB or SHARDNUMSUB
    // Of the clients' own channels: a client's id follows.
    std::string_view channel_prefix{};
    // "FLOOR KEEP_MS [REPLICATION]" for _token.lua.
    short_text token_floor{};
    // Tells this run of the server from its other runs. Empty in a cluster, where the replication
    // id does.
    short_text run{};
};

}  // namespace pawl::redis
