// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What has happened in a scenario with one server or several: its locks, the holds and the waits of
// its users, and the faults, with what they excuse. All rules read it.
#pragma once

#include "../kernel/trace.hpp"
#include "../services/redis/plan.hpp"

#include <pawl/held_lock.hpp>
#include <pawl/options.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

// In a calm network, a message and its consequences take no longer.
inline constexpr instant delivery_limit = std::chrono::milliseconds(50);

struct checked_server {
    simulated_network& network;
    const server_plan& planned;
    const std::string label;  // " a", " b", …; empty for the only server
    instant clock_set_at{-1};
    bool is_refusing = false;
    instant refusing_until{-1};  // end of the last refusals

    [[nodiscard]] store& data(std::size_t database = 0) const {
        return network.server().data(database);
    }
};

struct lock_record;
struct user_hold;
using hold_id = std::uint64_t;
using wait_id = std::uint64_t;

struct released_hold {
    std::uint64_t token;
    lock_mode mode;
};

// Reads the holds of a lock at its server.
class lock_reader {
public:
    virtual ~lock_reader() = default;
    // The end of the hold at the server; nothing if the server does not have it.
    [[nodiscard]] virtual std::optional<instant> expiry_of(const user_hold& held) const = 0;
    // Whether the server still has a hold that its user has released.
    [[nodiscard]] virtual bool still_has(const lock_record& lock,
                                         const released_hold& hold) const = 0;
    // For messages.
    [[nodiscard]] virtual std::string value_of(const lock_record& lock) const = 0;
};

struct lock_record {
    std::string name;
    lock_keys keys;
    const checked_server* server = nullptr;  // has the keys
    std::size_t database = 0;
    bool has_permits = false;
    const lock_reader* reader = nullptr;
    instant last_fault{-1}, restored_at{-1}, forced_at{-1};
    // Older data came back under living holders: a reader may join a group from before.
    bool had_live_rollback = false;
    // The grants to users.
    std::uint64_t newest_token = 0;
    std::multiset<std::pair<const simulated_process*, std::uint64_t>>
        granted_tokens;                                                // and their programs
    std::multimap<const simulated_process*, instant> unfenced_grants;  // without a token
    // For each program: the number of its users that request this name within a set, and the end
    // of the last such request.
    struct set_request_count {
        int active = 0;
        instant ended{-1};
    };
    std::map<const simulated_process*, set_request_count> set_requests;

    [[nodiscard]] store& data() const { return server->data(database); }
    [[nodiscard]] bool is_calm() const noexcept { return server->planned.is_calm; }
    // Redisson's Semaphore, whose permits have no lease.
    [[nodiscard]] bool is_plain_semaphore() const noexcept {
        return has_permits && keys.lock == plain_semaphore_name;
    }
    // Whether a user of the program was granted the lock without a token at this time or later. The
    // server may have issued a token for it.
    [[nodiscard]] bool was_granted_unfenced(const simulated_process& process, instant since) const;
};

// The state of knowledge when a user began a request.
struct pending_request {
    instant requested_at{};
    std::uint64_t newest_token = 0;  // the newest token that any user had by then
    duration ttl{};
    lock_mode mode{};
    std::uint32_t permits = 1;
};

struct user_hold {
    hold_id id = 0;
    simulated_process* process = nullptr;
    lock_record* lock = nullptr;
    const held_lock* handle = nullptr;
    std::uint64_t token = 0;
    duration ttl{};
    instant excused_until{-1};
    lock_mode mode{};
    std::uint32_t permits = 1;
    std::stop_token lost{};  // obtained when the lock was granted
    // Of a Java program's hold, which has no handle.
    std::string owner{};
    instant believed_until{};
    std::vector<std::string> permit_ids{};
};

struct user_wait {
    const simulated_process* process = nullptr;
    const lock_record* lock = nullptr;
    instant began{};
    std::uint32_t permits = 1;
    std::string java_owner{};
};

class scenario_facts {
public:
    // `servers` in the order of the plan.
    scenario_facts(scheduler& loop, std::span<simulated_network* const> servers,
                   const plan& scenario_plan, trace& log);
    scenario_facts(const scenario_facts&) = delete;
    scenario_facts& operator=(const scenario_facts&) = delete;

    // Without its reader.
    lock_record& add_lock(const std::string& name, const lock_keys& keys, std::size_t database,
                          bool has_permits);
    [[nodiscard]] checked_server& server_of(const simulated_network& network);
    // The lock with this key, if this server has it.
    [[nodiscard]] lock_record* find_lock(const checked_server& server, std::size_t database,
                                         const std::string& key) const;
    // Knows the hold, and which faults excuse it from the beginning.
    user_hold& add_hold(user_hold granted, const pending_request& request);

    [[nodiscard]] instant now() const noexcept { return loop.now(); }
    [[nodiscard]] instant instant_of_server_ms(const lock_record& lock,
                                               std::int64_t server_ms) const {
        return now() + std::chrono::microseconds(server_ms * 1000 - lock.data().now_us());
    }
    [[nodiscard]] bool is_redisson() const noexcept {
        return scenario_plan.layout == redis::key_layout::redisson;
    }
    // The program is alive and runs, and has done so for that period.
    [[nodiscard]] bool is_awake(const simulated_process& process, instant period) const;
    [[nodiscard]] bool is_believed(const user_hold& held) const;
    [[nodiscard]] bool is_excused(const user_hold& held) const {
        return now() <= held.excused_until;
    }
    [[nodiscard]] std::string describe(const user_hold& held) const;
    // A request that ended a moment ago counts as active, because its locks are still being
    // released.
    [[nodiscard]] bool has_active_set_request(lock_record& lock,
                                              const simulated_process& process) const;
    template <class F>
    void for_each_hold_of(const lock_record& lock, F look) {
        for (auto& [id, held] : holds)
            if (held.lock == &lock) look(held);
    }

    // The user believes in the hold for at most one lease after the fault.
    [[nodiscard]] instant end_of_excuse(const user_hold& held, instant fault) const;
    // A fault excuses the hold from now on.
    void excuse(user_hold& held) const;
    // Holders may have lost this lock, or all locks of the server.
    void note_fault(lock_record& lock);
    void note_fault(const simulated_network& network);
    [[nodiscard]] bool had_fault_since(const std::vector<std::string>& names, instant when) const;
    // The server's clock was set forward, so every ttl ends early.
    void note_clock_set(const simulated_network& network);
    // The server restarted with older data: locks may be lost, and released locks may be held
    // again.
    void note_old_data(const simulated_network& network);
    // Older data replaced the server's data under live connections: a reader may also have joined
    // an earlier group of readers.
    void note_live_rollback(const simulated_network& network);
    // The server begins or ceases to refuse every script.
    void set_refusing(const simulated_network& network, bool refusing);
    // Whether the server with this number refused requests after `when`.
    [[nodiscard]] bool was_refusing_since(std::size_t server, instant when) const {
        return servers[server].is_refusing || servers[server].refusing_until >= when;
    }

    void fail(const std::string& rule, const std::string& sentence);
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }

    scheduler& loop;
    const plan& scenario_plan;
    std::vector<checked_server> servers;
    std::map<std::string, lock_record> locks;
    std::map<hold_id, user_hold> holds;
    std::map<wait_id, user_wait> waits;
    // By the name of the client or, for permits in Redisson's layout, by the owner.
    std::map<std::string, simulated_process*, std::less<>> processes;
    std::set<const simulated_process*> dead_processes;

private:
    trace& trace_;
    std::map<std::pair<std::size_t, std::string>, lock_record*> by_key_;  // database and key
    hold_id last_hold_id_ = 0;
    std::string violation_;
};

}  // namespace pawl::simulation
