// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The messages of etcd's API (etcdserverpb, version 3), as far as locks need them. Requests are
// encoded texts; `read_…` throws errc::protocol for a message that is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::etcd {

// The paths of the calls.
namespace methods {
inline constexpr std::string_view range = "/etcdserverpb.KV/Range";
inline constexpr std::string_view txn = "/etcdserverpb.KV/Txn";
inline constexpr std::string_view watch = "/etcdserverpb.Watch/Watch";
inline constexpr std::string_view lease_grant = "/etcdserverpb.Lease/LeaseGrant";
inline constexpr std::string_view lease_revoke = "/etcdserverpb.Lease/LeaseRevoke";
inline constexpr std::string_view lease_keep_alive = "/etcdserverpb.Lease/LeaseKeepAlive";
inline constexpr std::string_view lease_time_to_live = "/etcdserverpb.Lease/LeaseTimeToLive";
inline constexpr std::string_view authenticate = "/etcdserverpb.Auth/Authenticate";
inline constexpr std::string_view status = "/etcdserverpb.Maintenance/Status";
inline constexpr std::string_view alarms = "/etcdserverpb.Maintenance/Alarm";
inline constexpr std::string_view member_list = "/etcdserverpb.Cluster/MemberList";
}  // namespace methods

struct key_value {
    std::string key{};
    std::string value{};
    std::int64_t create_revision = 0;
    std::int64_t mod_revision = 0;
    std::int64_t lease = 0;  // 0: none
};

// The first key behind all keys with this beginning.
[[nodiscard]] std::string end_of_prefix(std::string prefix);

// Encoded operations of a transaction.
namespace operation {
[[nodiscard]] std::string get(std::string_view key);
// All keys with this beginning, in the order of their creation. `limit` 0: no limit.
[[nodiscard]] std::string get_all(std::string_view prefix, std::int64_t limit = 0);
[[nodiscard]] std::string put(std::string_view key, std::string_view value, std::int64_t lease);
// Keeps the value; fails if there is no such key.
[[nodiscard]] std::string attach(std::string_view key, std::int64_t lease);
[[nodiscard]] std::string remove(std::string_view key);
}  // namespace operation

// Encoded conditions of a transaction.
namespace condition {
// 0: there is no such key.
[[nodiscard]] std::string created_at(std::string_view key, std::int64_t revision);
[[nodiscard]] std::string modified_at(std::string_view key, std::int64_t revision);
[[nodiscard]] std::string has_value(std::string_view key, std::string_view value);
[[nodiscard]] std::string none_under(std::string_view prefix);
}  // namespace condition

struct transaction {
    std::vector<std::string> conditions{};
    std::vector<std::string> success{};
    std::vector<std::string> failure{};

    [[nodiscard]] std::string encode() const;
    [[nodiscard]] std::string as_operation() const;
};

// The answer to one operation.
struct operation_answer {
    std::vector<key_value> values{};  // of a range
    bool has_more = false;            // of a range with a limit
    std::int64_t deleted = 0;
    // Of a transaction inside another one.
    std::optional<bool> succeeded{};
    std::vector<operation_answer> answers{};
};
struct transaction_answer {
    std::int64_t revision = 0;  // of the store, after the transaction
    bool succeeded = false;
    std::vector<operation_answer> answers{};

    // Throws errc::protocol if there is none.
    [[nodiscard]] const operation_answer& at(std::size_t index) const;
};
[[nodiscard]] transaction_answer read_transaction(std::string_view message);

// A part of the keys from `key` up to `end`, in the order of the keys. `revision` 0: now.
[[nodiscard]] std::string range_request(std::string_view key, std::string_view end,
                                        std::int64_t limit, std::int64_t revision);
struct range_answer {
    std::int64_t revision = 0;
    operation_answer range{};
};
[[nodiscard]] range_answer read_range(std::string_view message);

// Without `end`, of one key. `deletes_only`: no message for a put. From now on.
[[nodiscard]] std::string watch_request(std::int64_t id, std::string_view key, std::string_view end,
                                        bool deletes_only);
[[nodiscard]] std::string watch_cancel_request(std::int64_t id);
struct watch_event {
    bool is_delete = false;
    key_value changed{};  // after a delete: the key, and `mod_revision` of the delete
};
struct watch_message {
    std::int64_t revision = 0;
    std::int64_t id = 0;
    bool is_created = false;
    bool is_canceled = false;
    std::string cancel_reason{};
    std::vector<watch_event> events{};
};
[[nodiscard]] watch_message read_watch(std::string_view message);

[[nodiscard]] std::string lease_grant_request(std::int64_t id, std::int64_t seconds);
// Of revoke, keep-alive and time-to-live.
[[nodiscard]] std::string lease_request(std::int64_t id);
// The seconds that are left; 0 or less: there is no such lease. Of grant, keep-alive and
// time-to-live.
[[nodiscard]] std::int64_t read_lease_seconds(std::string_view message);

[[nodiscard]] std::string authenticate_request(std::string_view user, std::string_view password);
[[nodiscard]] std::string read_token(std::string_view message);

struct member_status {
    std::string version{};
    std::uint64_t member = 0, leader = 0;
    std::int64_t database_size = 0, size_in_use = 0;
    std::int64_t revision = 0;
    bool is_learner = false;
    std::vector<std::string> errors{};
};
[[nodiscard]] member_status read_status(std::string_view message);

struct member {
    std::uint64_t id = 0;
    std::string name{};
    std::vector<std::string> urls{};  // for clients
    bool is_learner = false;
};
[[nodiscard]] std::vector<member> read_members(std::string_view message);

// Asks for all alarms.
[[nodiscard]] std::string alarm_request();
enum class alarm_kind : std::uint8_t { none, no_space, corrupt };
[[nodiscard]] std::vector<alarm_kind> read_alarms(std::string_view message);

}  // namespace pawl::etcd
