// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenario of one seed: its programs and users, their names, key spaces and keys, and the
// faults and their times. Each seed enables a few random faults ("swarm testing", Groce et al.,
// ISSTA 2012), because a scenario with all faults at once would hide errors.
#pragma once

#include "../../bugs/script_bugs.hpp"
#include "../../kernel/process_resources.hpp"
#include "../../server/simulated_network.hpp"

#include <pawl/redis.hpp>
#include <redis/common/limits.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

enum class fault_kind : std::uint8_t {
    cut_off,         // a program's messages are delayed, as in TCP
    break_all,       // a program's connections break
    freeze,          // the server stops for a while
    restart,         // the server restarts with its data,
    restart_old,     // with older data,
    restart_empty,   // or with none
    flush,           // FLUSHALL
    forget_scripts,  // SCRIPT FLUSH
    evict,           // one of a lock's keys is deleted
    clock_forward,   // the server's clock is set
    clock_backward,
    pause,          // SIGSTOP of a program, later SIGCONT
    crash,          // SIGKILL of a program
    force,          // a forced release
    foreign,        // another library acquires and releases the lock
    data_back,      // older data replace the server's data under live connections
    out_of_memory,  // the server refuses commands that may need memory
    refuse          // the server refuses every script: see refusals.hpp
};
inline constexpr std::size_t fault_kind_count = 18;
[[nodiscard]] std::string_view to_string(fault_kind kind) noexcept;

struct fault {
    instant time{};
    fault_kind kind{};
    instant length{};
    std::size_t random_choice =
        0;  // a random number that selects the program, the key and the name
    std::optional<std::size_t> server = 0;  // nothing: every server that is not calm
};

// A program runs out of a resource.
struct shortage {
    instant time{};
    resource missing{};
    instant length{};
    std::size_t random_choice = 0;  // a random number that selects the program
};

// The behaviour of a program's users, as probabilities and ranges.
struct user_behaviour {
    double tries_once = 0.2;      // tries without waiting
    double limits_wait = 0.3;     // waits for a limited time
    double cancels = 0.1;         // gives up at a random moment
    double drops_handle = 0.2;    // destroys the handle instead of releasing
    double holds_too_long = 0.1;  // holds for up to two ttls
    double limits_hold = 0.1;     // sets max_hold
    double unfenced = 0.0;        // requests no token
    double fair = 0.0;            // requests the order of arrival
    double reads = 0.0;           // on the name of readers and writers
    double takes_permits = 0.0;   // on the name of the semaphore
    double downgrades = 0.0;
    double takes_sets = 0.0;  // share of users that acquire several names at once
    double uses_owner = 0.0;  // of these, the share with an owner object
    double reads_sets = 0.0;
    double blocks_callback = 0.0;  // callbacks of a loss block for up to
    instant longest_block{};       // this time
    double runs_short = 0.0;       // a grant occurs during a shortage
    instant longest_idle{};        // between two requests
    instant longest_hold{};
    duration shortest_ttl{}, longest_ttl{};
};

// One server with its network and its clock. The flags follow from the faults.
struct server_plan {
    network_faults network;
    instant clock_offset{};  // at the start
    // No faults of this server or its network: every living program is served at once.
    bool is_calm = false;
    bool runs_out_of_memory = false;
    // The server may forget a latch's step too early.
    bool may_forget_steps = false;
    // The counter may be lost, so tokens may go back (docs/guide/guarantees.md): in the native
    // layout only if the clock was set back as well.
    bool tokens_may_go_back = false;
};

struct plan {
    std::uint64_t seed = 0;
    injected_bug bug = injected_bug::none;
    std::vector<server_plan> servers{1};  // the names are spread over them: spread_servers.hpp
    std::vector<fault> faults;
    std::vector<shortage> shortages;
    user_behaviour behaviour;
    redis::key_layout layout{};
    std::size_t program_count = 1;
    std::size_t java_program_count = 0;  // with Redisson itself
    std::size_t users_per_program = 1;
    std::size_t name_count = 1;
    instant horizon{};
    duration reply_timeout{};
    bool has_all_modes = false;  // also names with non-exclusive modes
    bool has_fair_lock = false;  // in Redisson's layout
    // In Redisson's layout: a PermitExpirableSemaphore; a Semaphore.
    bool has_semaphore = false;
    bool has_plain_semaphore = false;
    bool has_endless_permits = false;  // Java takes some permits of the former without a lease
    bool is_cluster_node = false;      // the server: with sharded channels, in Redisson's layout
    bool shares_keys = false;          // other libraries use the same keys
    redis::limits limits;              // of every client
    script_limits bounds_of_scripts{};
    double clock_rate_spread = 0;  // relative error of a program's clock

    bool has_calm_network = false;      // every server is calm
    bool has_latch_users = false;       // each program also has a user that counts latches down,
    bool has_latch_waiters = false;     // users that wait for latches and barriers,
    bool has_redisson_latches = false;  // and the same for Redisson's latches
    // The key spaces, to which the programs are assigned in turn.
    std::size_t database_count = 1;
    bool has_other_namespace = false;
    // A key may be lost.
    bool may_lose_data = false;

    [[nodiscard]] std::size_t server_of(std::string_view key) const noexcept;
    [[nodiscard]] const server_plan& server_plan_of(std::string_view key) const noexcept {
        return servers[server_of(key)];
    }
};

// The names of the read-write lock and of the semaphore, and in Redisson's layout of the fair lock
// and of the semaphore without leases.
inline constexpr std::string_view read_write_name = "room", semaphore_name = "pool",
                                  fair_name = "line", plain_semaphore_name = "slots";
[[nodiscard]] constexpr bool is_semaphore_name(std::string_view name) noexcept {
    return name == semaphore_name || name == plain_semaphore_name;
}
inline constexpr std::uint32_t semaphore_permits = 3;
// The names of the latch and of the barrier.
inline constexpr std::string_view latch_name = "steps", barrier_name = "turns";
inline constexpr std::uint32_t barrier_parties = 2;

[[nodiscard]] plan make_plan(std::uint64_t seed, redis::key_layout layout, injected_bug bug);

// The keys of a lock, in either layout.
struct lock_keys {
    std::string lock, fence, queue, waiters, holders, details;

    [[nodiscard]] std::array<std::string_view, 6> all() const noexcept {
        return {lock, fence, queue, waiters, holders, details};
    }
};

// A database or a namespace of the server. The same name in two key spaces is two different locks
// or latches.
struct key_space {
    redis::options options;
    std::string label;  // "", "/1", "@other"

    // The checker's name, which is unique over all key spaces.
    [[nodiscard]] std::string checker_name(std::string_view name) const {
        return std::string(name) + label;
    }
    [[nodiscard]] std::vector<std::string> checker_name(
        const std::vector<std::string>& names) const {
        std::vector<std::string> result;
        for (const auto& name : names)
            result.push_back(checker_name(name));
        return result;
    }
    // Redisson has databases but no namespaces.
    [[nodiscard]] std::string redisson_label() const {
        return "/" + std::to_string(options.database) + " of Redisson";
    }
    [[nodiscard]] redis::options redisson_options() const {
        redis::options result;
        result.layout = redis::key_layout::redisson;
        result.database = options.database;
        result.reply_timeout = options.reply_timeout;
        result.connect_timeout = options.connect_timeout;
        return result;
    }
};

// What the programs of a scenario use.
[[nodiscard]] std::vector<key_space> key_spaces_of(const plan& scenario_plan);
[[nodiscard]] std::vector<std::string> names_of(const plan& scenario_plan);
// In Redisson's layout, the keys with the most similar content.
[[nodiscard]] lock_keys keys_in(const key_space& space, std::string_view name);

}  // namespace pawl::simulation
