// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The least rights (ACL) that a user of a Redis or Valkey server needs for Pawl.
#pragma once

#include <pawl/redis.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// What the user does. Every use of exclusive locks is always included.
struct used_features {
    // Readers, permits, `fair`, `downgrade`, `resize`, elections and `inspect`. All users of a name
    // need it if one of them uses these modes: whoever releases serves all waiters. With the layout
    // `redisson` only the users of these modes need it.
    bool modes = true;
    bool latches = true;  // latches and barriers
    // `inspect`, `list`, `force_release` and `examine`: pawl status, ls, watch, release and doctor.
    bool admin = true;
    // The server is a node of a cluster, without redis+cluster://; for the layout `redisson`.
    bool cluster_node = false;
    // durability::replicas, and durability::disk. A server that does not know WAITAOF refuses a
    // rule with it, so neither is included unless it is asked for.
    bool replicas = false;
    bool disk = false;
};

// The rights on one kind of server.
struct access_rule {
    // The two kinds of servers, which have users of their own.
    enum class server_kind : unsigned char {
        server,   // the server, the master and its replicas, or every node of a cluster
        sentinel  // the Sentinels
    };
    server_kind kind = server_kind::server;  // where the user is
    std::string user{};                      // of the options; empty if they name none
    std::vector<std::string> keys{};         // patterns: "pawl:{*"
    std::vector<std::string> channels{};     // patterns: "pawl:c:0:*"
    std::vector<std::string> commands{};     // "set", "client|tracking"

    // A line for the server's configuration or ACL file, for a user without other rights. With
    // `ACL SETUSER` in place of the first word it is a command. `password` is not checked.
    [[nodiscard]] std::string line(std::string_view user_name, std::string_view password) const;
};

// Connects to no server. One rule for each kind of server. HELLO and AUTH need no right. INFO is
// included although locks work without it: docs/backends/security.md, "The least rights". Throws
// errc::bad_option for options that are not usable, and for a node of a cluster that the layout
// cannot use.
[[nodiscard]] std::vector<access_rule> least_rights(const options& server_options,
                                                    const used_features& features);
// As above for a URL, also for one of Redlock: then the rule is that of each node. Throws also
// errc::bad_url.
[[nodiscard]] std::vector<access_rule> least_rights(std::string_view url,
                                                    const used_features& features);

}  // namespace pawl::redis
