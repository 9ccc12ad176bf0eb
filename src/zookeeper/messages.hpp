// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests of ZooKeeper that locks need, and their replies.
#pragma once

#include "jute.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::zookeeper {

enum class operation : std::int32_t {
    notification = 0,
    create = 1,
    remove = 2,
    exists = 3,
    get_data = 4,
    set_data = 5,
    sync = 9,
    ping = 11,
    get_children = 12,  // with the node's stat
    multi = 14,
    create_with_stat = 15,
    create_container = 19,
    auth = 100,
    set_watches = 101,
    close_session = -11
};

// The numbers of replies that belong to no request.
inline constexpr std::int32_t notification_xid = -1, ping_xid = -2, auth_xid = -4,
                              set_watches_xid = -8;

// The errors of replies, as in ZooKeeper's KeeperException.Code.
enum class reply_code : std::int32_t {
    ok = 0,
    connection_loss = -4,
    marshalling = -5,
    unimplemented = -6,
    operation_timeout = -7,
    bad_arguments = -8,
    new_config_no_quorum = -13,
    no_node = -101,
    no_auth = -102,
    bad_version = -103,
    no_children_for_ephemerals = -108,
    node_exists = -110,
    not_empty = -111,
    session_expired = -112,
    invalid_acl = -114,
    auth_failed = -115,
    session_moved = -118,
    not_read_only = -119,
    quota_exceeded = -125,
    throttled = -127
};

struct node_stat {
    std::int64_t created_by = 0;     // czxid: larger for each later node, over leader changes, too
    std::int64_t created_at = 0;     // of the server's wall clock, in ms
    std::int64_t session = 0;        // of an ephemeral node; 0 for another one
    std::int32_t child_changes = 0;  // cversion
};

// What a request asks for, without its number.
struct request {
    operation type{};
    std::string body;
};

// Rights at new nodes. own: the logins of the session have all rights, and nobody else has any.
enum class node_rights : std::uint8_t { everybody, own };
// persistent_sequential and so on are not used.
enum class node_kind : std::int32_t { persistent = 0, ephemeral = 1, ephemeral_sequential = 3 };

[[nodiscard]] request create_request(std::string_view path, std::string_view data,
                                     node_rights rights, node_kind kind);
// A container is a node that the server deletes when it has no more children.
[[nodiscard]] request create_container_request(std::string_view path, node_rights rights);
[[nodiscard]] request remove_request(std::string_view path);
[[nodiscard]] request get_data_request(std::string_view path, bool watches);
[[nodiscard]] request set_data_request(std::string_view path, std::string_view data);
[[nodiscard]] request get_children_request(std::string_view path, bool watches);
// Answered when the server has all changes that the leader had before.
[[nodiscard]] request sync_request(std::string_view path);
// In one step: creates `created` (ephemeral) and removes `removed`.
[[nodiscard]] request replace_request(std::string_view created, std::string_view data,
                                      node_rights rights, std::string_view removed);
[[nodiscard]] request auth_request(std::string_view user, std::string_view password);
[[nodiscard]] request set_watches_request(std::int64_t last_change,
                                          const std::vector<std::string>& data,
                                          const std::vector<std::string>& children);

// The bytes of a request with its length.
[[nodiscard]] std::string frame_of(std::int32_t xid, const request& sent);

struct connect_request {
    std::int64_t last_change = 0;
    std::int32_t timeout_ms = 0;
    std::int64_t session = 0;  // 0: a new one
    std::string password{};
};
[[nodiscard]] std::string frame_of(const connect_request& sent);
struct connect_reply {
    std::int32_t timeout_ms = 0;  // 0: the session has expired
    std::int64_t session = 0;
    std::string password{};
};
[[nodiscard]] connect_reply read_connect_reply(std::string_view frame);

struct reply_header {
    std::int32_t xid = 0;
    std::int64_t change = 0;  // of the newest change that the server knew
    reply_code code{};
};
struct reply {
    reply_code code{};
    std::string body{};
};

// A notification of a watch.
struct node_event {
    enum class kind : std::int32_t {
        session = -1,
        created = 1,
        deleted = 2,
        changed = 3,
        children_changed = 4
    };
    node_event::kind type{};
    std::string path{};
};
[[nodiscard]] node_event read_event(std::string_view body);

struct created_node {
    std::string path;
    node_stat stat;
};
[[nodiscard]] created_node read_created(const reply& answer);
struct node_data {
    std::string data;
    node_stat stat;
};
[[nodiscard]] node_data read_data(const reply& answer);
[[nodiscard]] std::vector<std::string> read_children(const reply& answer);
// Of the first part that has failed; `ok` if the step was carried out.
[[nodiscard]] reply_code read_multi(const reply& answer);

}  // namespace pawl::zookeeper
