// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Fenced writes to Redis and Valkey: the server refuses the commands of a late holder. Standard
// headers only.
#pragma once

#include <pawl/guard/redis.hpp>
#include <pawl/types.hpp>

#include <string_view>
#include <vector>

namespace pawl::guard {

// What the server did.
struct fenced_replies {
    bool accepted = false;   // false: a later token has written, and no command ran
    fencing_token newest{};  // the largest token of the resource so far
    // One for each command that ran, in order. A server's error is the last one: the commands
    // behind it did not run, and those before it stay, since a script is not rolled back.
    std::vector<redis_reply> replies{};
    // As `accepted`.
    explicit operator bool() const noexcept { return accepted; }
};

// Runs the commands in one script, unless the resource has seen a larger token. An equal token is
// accepted, because a holder writes often. The resource is a key, or the name of several keys. Its
// largest token is in a key beside it, which has no ttl: {RESOURCE}:fence, or RESOURCE::fence if it
// has a hash tag. In a cluster, the keys of all commands need the resource's hash tag. Use one
// source of tokens for a resource. The commands must not block, and a reply above 2^53 is rounded
// by Lua: read such a number with GET. An asynchronous failover may lose the last tokens together
// with the last writes. Thread-safe for different connections.
//
// Throws pawl::error: bad_option for no token, for an empty command and for keys in different
// slots; the others as `counters`. If no answer comes, the commands may have run; they may be sent
// again.
[[nodiscard]] fenced_replies fenced(redis_connection& server, std::string_view resource,
                                    fencing_token token,
                                    const std::vector<redis_command>& commands);

}  // namespace pawl::guard
