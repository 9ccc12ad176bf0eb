// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command_table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pawl::redis {
namespace {

// Separated by spaces. `always`: of connections.
constexpr std::string_view always = "select ping info time client|tracking";
constexpr std::string_view script_calls = "subscribe evalsha eval";

namespace native_layout {
constexpr std::string_view locks =
    "set get del exists incr pttl pexpire publish pubsub|numsub zadd zrem zpopmin zrank zscore "
    "zcard zrange hset hget hdel";
// With a key template, other libraries may release a lock, and the server reports that.
constexpr std::string_view shared_keys = "client|caching";
constexpr std::string_view modes = "zrevrange zrangebyscore hexists hincrby getrange pexpireat";
constexpr std::string_view latches = "unsubscribe hexists hincrby hmget hlen pubsub|numsub";
constexpr std::string_view admin = "scan type getrange";
}  // namespace native_layout

// The native layout without scripts.
namespace scriptless_layout {
constexpr std::string_view locks = "set exists incr pexpire";
constexpr std::string_view admin = "scan getrange pttl";
}  // namespace scriptless_layout

namespace redisson_layout {
constexpr std::string_view locks =
    "unsubscribe get set del exists incr pexpire pttl publish hexists hincrby hlen hkeys "
    "hrandfield";
constexpr std::string_view plain_lock = "lindex";
constexpr std::string_view read_write_lock = "hget hset hdel hgetall";
constexpr std::string_view fair_lock =
    "lindex lpop lpos lrange lrem rpush zadd zincrby zrange zrem zscore";
// The same semaphore commands for permits with and without leases.
constexpr std::string_view semaphores = "incrby decrby zadd zcard zrange zrangebyscore zrem zscore";
constexpr std::string_view inspection = "type zcount hget hgetall zrange pubsub|numsub";
constexpr std::string_view latches = "decrby getrange pubsub|numsub";
constexpr std::string_view admin = "scan zadd zcard zrem zscore lpop lindex incrby";
}  // namespace redisson_layout

namespace of_redlock {
constexpr std::string_view common_locks =
    "del exists pttl pexpire publish pubsub|numsub zadd zrem zpopmin";
constexpr std::string_view fenced_locks = "set get hmget hget hset";
constexpr std::string_view readers = "zrangebyscore zrevrange hdel pexpireat";
constexpr std::string_view plain_locks = "set get";
constexpr std::string_view redisson_locks = "hset hexists hkeys";
constexpr std::string_view admin = "scan zcard";
constexpr std::string_view fenced_admin = "zrange";
}  // namespace of_redlock

// In both layouts.
constexpr std::string_view replicas = "wait";
constexpr std::string_view disk = "waitaof";

// Of `examine`, in both layouts.
constexpr std::string_view doctor = "config|get";

// What a topology adds. The cluster's map is asked for only with redis+cluster://.
namespace in_cluster {
constexpr std::string_view map = "cluster|nodes cluster|info asking";
constexpr std::string_view sharded_channels = "ssubscribe sunsubscribe spublish";
constexpr std::string_view inspection = "pubsub|shardnumsub";
constexpr std::string_view doctor = "cluster|info";
}  // namespace in_cluster

constexpr std::string_view of_sentinels =
    "info ping subscribe sentinel|myid sentinel|master sentinel|get-master-addr-by-name "
    "sentinel|sentinels sentinel|masters";

void append(std::vector<std::string>& commands, std::string_view words) {
    while (!words.empty()) {
        const auto end = std::min(words.find(' '), words.size());
        std::string word(words.substr(0, end));
        if (std::ranges::find(commands, word) == commands.end())
            commands.push_back(std::move(word));
        words.remove_prefix(std::min(end + 1, words.size()));
    }
}

void append_native(std::vector<std::string>& commands, const options& server_options,
                   const used_features& features) {
    append(commands, native_layout::locks);
    if (!server_options.key.empty()) append(commands, native_layout::shared_keys);
    if (features.modes) append(commands, native_layout::modes);
    if (features.latches) append(commands, native_layout::latches);
    if (features.admin) append(commands, native_layout::admin);
}

void append_redisson(std::vector<std::string>& commands, const options& server_options,
                     const used_features& features) {
    const bool is_read_write = server_options.object == redisson_object::readwrite;
    append(commands, redisson_layout::locks);
    append(commands,
           is_read_write ? redisson_layout::read_write_lock : redisson_layout::plain_lock);
    if (features.modes && !is_read_write) append(commands, redisson_layout::fair_lock);
    if (features.modes) append(commands, redisson_layout::semaphores);
    if (features.modes || features.admin) append(commands, redisson_layout::inspection);
    if (features.latches) append(commands, redisson_layout::latches);
    if (features.admin) append(commands, redisson_layout::admin);
}

void append_scriptless(std::vector<std::string>& commands, const used_features& features) {
    append(commands, scriptless_layout::locks);
    if (features.admin) append(commands, scriptless_layout::admin);
}

// Of Pawl's own layout only latches use sharded channels.
void append_cluster(std::vector<std::string>& commands, const options& server_options,
                    const used_features& features) {
    const bool has_map = std::holds_alternative<cluster>(server_options.where);
    if (!has_map && !features.cluster_node) return;
    const bool is_native = server_options.layout == key_layout::native;
    if (has_map) append(commands, in_cluster::map);
    const bool has_channels = server_options.scripts && (!is_native || features.latches);
    if (has_channels) append(commands, in_cluster::sharded_channels);
    if (server_options.scripts &&
        (features.latches || (!is_native && (features.modes || features.admin))))
        append(commands, in_cluster::inspection);
    if (features.admin) append(commands, in_cluster::doctor);
}

}  // namespace

std::vector<std::string> server_commands(const options& server_options,
                                         const used_features& features) {
    std::vector<std::string> commands;
    append(commands, always);
    if (server_options.scripts) append(commands, script_calls);
    if (!server_options.scripts)
        append_scriptless(commands, features);
    else if (server_options.layout == key_layout::redisson)
        append_redisson(commands, server_options, features);
    else
        append_native(commands, server_options, features);
    if (features.replicas) append(commands, replicas);
    if (features.disk) append(commands, disk);
    if (features.admin) append(commands, doctor);
    append_cluster(commands, server_options, features);
    return commands;
}

std::vector<std::string> redlock_commands(const options& node, bool fenced,
                                          const used_features& features) {
    const bool is_redisson = node.layout == key_layout::redisson;
    std::vector<std::string> commands;
    append(commands, always);
    append(commands, script_calls);
    append(commands, of_redlock::common_locks);
    if (fenced)
        append(commands, of_redlock::fenced_locks);
    else
        append(commands, is_redisson ? of_redlock::redisson_locks : of_redlock::plain_locks);
    // A forced release also ends the holds of readers.
    if (fenced && (features.modes || features.admin)) append(commands, of_redlock::readers);
    if (features.admin) append(commands, of_redlock::admin);
    if (features.admin && fenced) append(commands, of_redlock::fenced_admin);
    if (features.admin) append(commands, doctor);
    return commands;
}

std::vector<std::string> sentinel_commands() {
    std::vector<std::string> commands;
    append(commands, of_sentinels);
    return commands;
}

}  // namespace pawl::redis
