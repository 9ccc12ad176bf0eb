// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests about locks to the nodes of a set, and the nodes' replies. The layout of the set,
// fenced_layout.cpp or classic_layout.cpp, makes the commands and reads the parts of the replies in
// which the layouts differ. The requests about the membership are in member_calls.hpp.
#pragma once

#include "ballot.hpp"
#include "core/util/spi.hpp"

#include "../common/keys.hpp"
#include "../scripting/reply_reader.hpp"
#include "../scripting/script_call.hpp"
#include "../transport/link.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

// The first word of an error about a reply of unknown form.
inline constexpr std::string_view reply_subject = "Redlock";

class node_layout;

// What every request to the nodes of a set has in common.
struct set_parameters {
    bool is_fenced = true;   // false: classic Redlock; the nodes know no counters and no membership
    std::string member_key;  // NAMESPACE:redlock
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
// to, must outlive the command. The locks of one call have the same mode, and a reader's acquire is
// of one lock.

struct acquire_call {
    const node_layout& layout;
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
};

// With fencing only.
struct confirm_call {
    const set_parameters& set;
    std::span<const requested_lock> locks;
    std::string nonce;  // of the node's memory when it granted the locks

    confirm_call(const set_parameters& set_of_nodes,
                 std::span<const requested_lock> locks_of_attempt, std::string nonce_of_grant,
                 const std::vector<std::int64_t>& granted_counters,
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

class renew_call {
public:
    explicit renew_call(const node_layout& layout) : layout_(layout) {}
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

    struct entry {
        const requested_lock* lock;
        std::string token, ttl_ms, not_after_ms, restore_until_ms;
    };
    // At least one.
    [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

private:
    const node_layout& layout_;
    std::vector<entry> entries_;
};

// What a node says of a hold that is released.
enum class node_release : std::uint8_t {
    gone,
    released,
    taken_over,  // another holder has the lock
    overtaken    // gone, and the node has granted the lock to another attempt since
};

struct release_call {
    const node_layout& layout;
    std::span<const requested_lock> locks;
    std::string_view token;  // of all; "0" for an acquire that failed, and without fencing

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    // For each lock.
    [[nodiscard]] std::vector<node_release> read(const redis::reply& from) const;
};

struct leave_call {
    const node_layout& layout;
    const requested_lock& lock;
    std::string_view client;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
};

struct inspect_call {
    const node_layout& layout;
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

struct counter_call {
    const node_layout& layout;
    const redis::keys& keys;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    struct answer {
        standing_reply standing;
        std::int64_t counter = 0;
        bool is_held = false;
    };
    [[nodiscard]] answer read(const redis::reply& from) const;
};

struct barrier_call {
    const node_layout& layout;
    const requested_lock& lock;
    std::string token;

    [[nodiscard]] redis::script_call command(std::string_view run) const;
    [[nodiscard]] standing_reply read(const redis::reply& from) const;
};

// How the nodes keep a lock. A set chooses its layout once.
class node_layout {
public:
    node_layout() = default;
    virtual ~node_layout() = default;
    node_layout(const node_layout&) = delete;
    node_layout& operator=(const node_layout&) = delete;

    [[nodiscard]] virtual redis::script_call command(const acquire_call& call,
                                                     std::string_view run) const = 0;
    [[nodiscard]] virtual redis::script_call command(const renew_call& call,
                                                     std::string_view run) const = 0;
    [[nodiscard]] virtual redis::script_call command(const release_call& call,
                                                     std::string_view run) const = 0;
    [[nodiscard]] virtual redis::script_call command(const leave_call& call) const = 0;
    [[nodiscard]] virtual redis::script_call command(const inspect_call& call) const = 0;
    [[nodiscard]] virtual redis::script_call command(const counter_call& call,
                                                     std::string_view run) const = 0;
    [[nodiscard]] virtual redis::script_call command(const barrier_call& call,
                                                     std::string_view run) const = 0;

    // The rest of a reply: of a grant of so many locks, of a vote on renewals, of an inspection.
    virtual void read_grant(const redis::reply_reader& from, std::size_t locks,
                            acquire_call::answer& into) const = 0;
    virtual void read_vote(const redis::reply_reader& from, renew_call::answer& into) const = 0;
    virtual void read_holders(const redis::reply_reader& from,
                              inspect_call::answer& into) const = 0;

    // The type of a lock's key, as SCAN names it.
    [[nodiscard]] virtual std::string key_type() const { return "string"; }
    // The channel of Redisson's waiters; empty: none.
    [[nodiscard]] virtual std::string channel_of(std::string_view) const { return {}; }
};

// STRING: the value, and the counter of its grant; beside it the counter of the name. The set must
// outlive the layout.
[[nodiscard]] std::unique_ptr<const node_layout> make_fenced_layout(const set_parameters& set);
// STRING: the value, as libraries with SET NX PX write it.
[[nodiscard]] std::unique_ptr<const node_layout> make_plain_layout(const set_parameters& set);
// HASH: the value -> 1, like Redisson's RLock.
[[nodiscard]] std::unique_ptr<const node_layout> make_redisson_layout(
    const set_parameters& set, const std::string& key_template);

}  // namespace pawl::redlock
