// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the scripts in src/redis/redlock/scripts, and their replies. calls.cpp and
// classic_calls.cpp define the members; those about the membership are in member_calls.hpp.
#pragma once

#include "ballot.hpp"
#include "core/util/spi.hpp"

#include "../common/keys.hpp"
#include "../scripting/script_call.hpp"
#include "../transport/link.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

// How the nodes keep a lock.
enum class node_layout : std::uint8_t {
    fenced,    // STRING: the value, and the counter of its grant; beside it the counter of the name
    plain,     // STRING: the value, as libraries with SET NX PX write it
    redisson,  // HASH: the value -> 1, like Redisson's RLock
};

// What every request to the nodes of a set has in common.
struct set_parameters {
    node_layout layout = node_layout::fenced;
    // False: classic Redlock. The nodes know no counters and no membership.
    [[nodiscard]] bool is_fenced() const noexcept { return layout == node_layout::fenced; }
    std::string member_key;      // NAMESPACE:redlock
    std::string quarantine_key;  // NAMESPACE:redlock:q
    std::string set;             // the digest of the nodes and of the longest ttl
    std::string nodes;           // the same as a URL without secrets
    std::string keep_ms;         // how long a node keeps an unused counter
    std::string channel_prefix;  // of each client's channel
};

// One lock of an attempt.
struct requested_lock {
    std::string name;
    redis::keys keys;
    std::string value;      // at every node; with fencing, a node appends its counter
    std::string channel{};  // of Redisson's waiters; empty: none
    lock_mode mode = lock_mode::exclusive;  // or shared, with fencing

    [[nodiscard]] bool is_shared() const noexcept { return mode == lock_mode::shared; }
};

// In all calls, `run` names the memory of the node: see `run_of`. The calls, and what they refer
// to, must outlive the command. The comment of a call names its scripts, one for each layout.
// Readers have scripts of their own: read_acquire.lua, read_confirm.lua, read_renew.lua and
// read_release.lua. The scripts of one call have replies of the same form. The locks of one call
// have the same mode, and a reader's acquire is of one lock.

// acquire.lua, classic_acquire.lua
struct acquire_call {
    const set_parameters& set;
    std::span<const requested_lock> locks;
    std::string_view ttl_ms;
    std::string_view client{};    // that waits; empty: none
    std::string_view place_ms{};  // how long its place in the line lasts
    std::string_view floor{};     // of the counters, with fencing

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    struct answer {
        standing_reply standing;
        bool is_granted = false;
        membership_state member{};             // if granted
        std::vector<std::int64_t> counters{};  // if granted
        std::int64_t left_ms = 0;            // of the longest lease, if it is not free; -1: no end
        std::vector<std::string> holders{};  // of each lock, if they are not free; empty: free
    };
    [[nodiscard]] answer read(const redis::reply& from) const;

private:
    [[nodiscard]] redis::script_call classic_command() const;
    [[nodiscard]] redis::script_call readers_command(std::string_view run) const;
};

// confirm.lua
struct confirm_call {
    const set_parameters& set;
    std::span<const requested_lock> locks;
    std::string nonce;  // of the node's memory when it granted the locks

    confirm_call(const set_parameters& set_of_nodes, std::span<const requested_lock> requested,
                 std::string nonce_of_grant, const std::vector<std::int64_t>& granted_counters,
                 const std::vector<std::int64_t>& tokens);
    [[nodiscard]] redis::script_call command(std::string_view run) const;
    struct answer {
        standing_reply standing;
        bool is_confirmed = false;
        membership_state member{};
    };
    [[nodiscard]] answer read(const redis::reply& from) const;

private:
    struct entry {
        std::string counter, token;
    };
    std::vector<entry> entries_;
};

// renew.lua, classic_renew.lua
class renew_call {
public:
    explicit renew_call(const set_parameters& set) : set_(set) {}
    // The lock must outlive the call. Until when the node may extend the hold, and until when it
    // may restore a reader, by the node's clock; empty: not known.
    void add(const requested_lock& lock, fencing_token token, duration ttl,
             std::string not_after_ms, std::string restore_until_ms);
    [[nodiscard]] redis::script_call command(std::string_view run) const;
    struct answer {
        standing_reply standing;
        std::vector<renewal::outcome> outcomes{};  // if the node votes
        membership_state member{};                 // the same, with fencing
        std::int64_t node_ms = 0;                  // the node's clock, if it votes
        bool is_late = false;  // for one of the holds, by the node's clock: nothing was done
    };
    [[nodiscard]] answer read(const redis::reply& from) const;

private:
    [[nodiscard]] redis::script_call classic_command() const;
    struct entry {
        const requested_lock* lock;
        std::string token, ttl_ms, not_after_ms, restore_until_ms;
    };
    const set_parameters& set_;
    std::vector<entry> entries_;
};

// What a node says of a hold that is released.
enum class node_release : std::uint8_t {
    gone,
    released,
    taken_over,  // another holder has the lock
    overtaken    // gone, and the node has granted the lock to another attempt since
};

// release.lua, classic_release.lua
struct release_call {
    const set_parameters& set;
    std::span<const requested_lock> locks;
    std::span<const std::string> tokens;  // "0" for an acquire that failed, and without fencing

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    // For each lock.
    [[nodiscard]] std::vector<node_release> read(const redis::reply& from) const;

private:
    [[nodiscard]] redis::script_call classic_command() const;
};

// leave.lua, classic_leave.lua
struct leave_call {
    const set_parameters& set;
    const requested_lock& lock;
    std::string_view client;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
};

// inspect.lua, classic_inspect.lua
struct inspect_call {
    const set_parameters& set;
    const redis::keys& keys;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    struct answer {
        std::optional<std::string> value{};  // without the counter
        std::int64_t left_ms = 0;
        fencing_token token;  // the node's number of the hold
        std::uint64_t waiters = 0;
        struct reader {
            std::string value;  // without the counter
            fencing_token token;
            std::int64_t left_ms = 0;
        };
        std::vector<reader> readers{};
    };
    [[nodiscard]] answer read(const redis::reply& from) const;
};

// counter.lua, classic_counter.lua
struct counter_call {
    const set_parameters& set;
    const redis::keys& keys;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    struct answer {
        standing_reply standing;
        std::int64_t counter = 0;
        bool is_held = false;
    };
    [[nodiscard]] answer read(const redis::reply& from) const;
};

// barrier.lua, classic_drop.lua
struct barrier_call {
    const set_parameters& set;
    const requested_lock& lock;
    std::string token;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    [[nodiscard]] standing_reply read(const redis::reply& from) const;

private:
    [[nodiscard]] redis::script_call classic_command(std::string_view run) const;
};

[[nodiscard]] std::string_view text_of(node_layout layout) noexcept;

}  // namespace pawl::redlock
