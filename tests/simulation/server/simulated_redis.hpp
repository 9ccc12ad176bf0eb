// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One Redis server without its network: commands, Lua scripts, a few databases, channels and
// client-side caching. Channels and caching are shared by all databases, as in Redis. The network
// is in simulated_network.hpp.
#pragma once

#include "../bugs/injected_bug.hpp"
#include "../bugs/script_bugs.hpp"
#include "commands.hpp"
#include "lua_host.hpp"
#include "served_slots.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

using words = std::vector<std::string>;

class simulated_redis : private pubsub {
public:
    using connection = std::uint64_t;
    static constexpr std::size_t database_count = 3;
    using snapshot = std::array<store::keys, database_count>;
    // {"message", channel, payload}, the same with "smessage" for a sharded channel, or
    // {"invalidate", key}; an empty key stands for all keys.
    using push_sink = std::function<void(connection, words)>;

    // `name`: a part of the run id; a service's servers have different ones.
    simulated_redis(push_sink pushes, injected_bug bug, std::string name = {});

    // A replica refuses writes, and says its role in the handshake.
    void set_replica(bool is_replica);

    // From now on the server is a node of a cluster, and has all slots.
    void join_cluster() noexcept { is_cluster_node_ = true; }
    // From now on the server is a node of a cluster with several nodes. `bus`: the message reaches
    // the subscribers of the other nodes.
    using bus_sink = std::function<void(std::string_view channel, std::string_view payload)>;
    void join_cluster(const served_slots& slots, bus_sink bus);
    [[nodiscard]] bool is_cluster_node() const noexcept { return is_cluster_node_; }

    // µs since 1970. The caller sets the clock before every command.
    void set_clock(std::int64_t us);
    redis::reply execute(connection from, const words& command);
    // Removes expired keys and notifies the clients that cached them.
    void expire();
    // The expiry of the next cached key in the server's ms; -1 if there is none.
    [[nodiscard]] std::int64_t next_cached_expiry() const;
    void disconnect(connection closed);

    void flush_all();
    void forget_scripts() { scripts_.clear(); }
    void evict(std::size_t database, std::string_view key);
    // As the target of MIGRATE does.
    void restore(std::string_view key, store::entry with);
    // A message of the bus.
    void deliver(std::string_view channel, std::string_view payload);
    // The node does not have this slot any more: the subscribers of its sharded channels are told.
    void leave_slot(std::size_t slot);
    // From now on every script fails with this error: before it begins if `at_once`, otherwise at
    // its first write. An empty error ends the refusals.
    void refuse(std::string error, bool at_once);
    // Restores a stale copy under live connections, as REPLICAOF and then REPLICAOF NO ONE do.
    void roll_back(snapshot to);
    // Starts a new process with the given data.
    void restart(snapshot with);
    // Changes the text of every script that is not known yet: for injected bugs.
    void edit_scripts(std::function<std::string(const std::string& text)> editor) {
        edit_script_ = std::move(editor);
    }
    // Of the scripts that are not known yet.
    void set_script_limits(const script_limits& limits) noexcept { script_limits_ = limits; }
    // The server runs out of memory, or has memory again.
    void set_out_of_memory(bool enabled) noexcept { refusals_.out_of_memory = enabled; }

    [[nodiscard]] store& data(std::size_t database = 0) noexcept { return stores_.at(database); }
    [[nodiscard]] snapshot take_snapshot() const;
    // The database of the last command.
    [[nodiscard]] std::size_t database() const noexcept { return database_; }
    [[nodiscard]] std::string run_id() const { return name_ + "run" + std::to_string(run_number_); }

private:
    struct loaded_script {
        std::string sha1;
        lua_host::function code;
    };

    redis::reply dispatch(connection from, const words& command);
    using subscribers = std::map<std::string, std::set<connection>, std::less<>>;
    static redis::reply subscribe(subscribers& channels, connection from, const words& command);
    static redis::reply unsubscribe(subscribers& channels, connection from, const words& command);
    void check_slots(std::span<const std::string> names, bool are_channels);
    redis::reply select(connection from, const std::string& database);
    [[nodiscard]] store& selected_store() noexcept { return stores_[database_]; }
    redis::reply run_script(const words& command);
    // Null if the server does not know the script.
    const loaded_script* find_script(const words& command);
    redis::reply scan(const words& command);
    redis::reply run_plain(const words& command);
    std::int64_t publish(std::string_view channel, std::string_view payload, bool sharded) override;
    [[nodiscard]] std::int64_t subscriber_count(std::string_view channel,
                                                bool sharded) const override;
    void remember_cached(connection from);
    void invalidate_written(connection from);

    push_sink push_;
    injected_bug bug_;
    script_limits script_limits_{};
    const std::string name_;
    std::array<store, database_count> stores_;
    std::size_t database_ = 0;
    std::map<connection, std::size_t> selected_databases_;
    bool is_cluster_node_ = false;
    bool is_replica_ = false;
    const served_slots* slots_ = nullptr;
    bus_sink bus_;
    std::set<connection> redirected_;  // their next command is for a slot that moves
    bool is_redirected_ = false;       // of the present command
    subscribers channels_, sharded_channels_;
    std::map<std::string, std::set<connection>, std::less<>> cached_keys_;
    std::set<connection> tracking_;
    std::set<connection> caches_next_;
    std::map<std::string, loaded_script, std::less<>> scripts_;  // by SHA-1
    std::function<std::string(const std::string& text)> edit_script_;
    write_refusals refusals_;
    std::string script_refusal_;
    int run_number_ = 1;
};

}  // namespace pawl::simulation
