// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the scripts that acquire a lock, and of a waiter's scripts. Each struct has the
// names of its script's keys and arguments, and reads its reply.
#pragma once

#include "core/util/spi.hpp"

#include "../../common/keys.hpp"
#include "../../scripting/script_call.hpp"
#include "../../scripting/server_words.hpp"
#include "../../transport/link.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::native {

// A waiter's state in the queue.
struct queue_state {
    std::int64_t next_change_ms = -1;  // the time until a lease or place ends; negative: unknown
    std::int64_t server_ms = 0;        // the server's clock
    std::int64_t rank = 0;             // 0: the first waiter
    duration place_duration{};         // from a refresh to the end of the place; 0: the usual one
};

// The reason for refused permits: the total is less than the request, the stored total differs from
// the caller's, or no total is stored.
enum class permits_refusal : std::uint8_t { too_few, other_total, no_total };

struct acquire_reply {
    bool granted = false;
    fencing_token token{};
    std::optional<queue_state> queued{};
    std::optional<permits_refusal> refusal{};
    std::uint32_t total_permits = 0;  // of a refusal
};

// acquire.lua
struct acquire_call {
    const keys& lock_keys;
    std::string_view value;
    std::string ttl_ms;
    bool fenced = true;         // false: no token
    std::string_view waiter{};  // CLIENT:OWNER; empty: do not wait
    std::string_view value_prefix{};
    std::string claim_window_ms{};
    std::string place_ms{};  // until the waiter's place in the queue ends

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] acquire_reply read(const reply& from) const;
};

// acquire_any_mode.lua
struct acquire_any_mode_call {
    const acquire_call& acquire;
    std::string_view mode;
    std::string_view total_permits;  // "0": the server's total

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] acquire_reply read(const reply& from) const;
};

struct refresh_reply {
    bool granted = false;
    fencing_token token{};
    std::int64_t since_ms = 0;  // the time of the grant by the server's clock
    std::int64_t left_ms = 0;   // what is left of the grant's lease
    std::optional<queue_state> queued{};
    std::optional<permits_refusal> refusal{};
    std::uint32_t total_permits = 0;
};

// refresh.lua
struct refresh_call {
    const keys& lock_keys;
    std::string_view waiter;
    std::string_view value_prefix;
    std::string claim_window_ms;
    std::string place_ms;
    std::string first_place_ms;  // of the first waiter behind an exclusive holder
    std::string far_place_ms;    // of a waiter far from the head
    std::string_view mode;
    std::string_view total_permits;

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] refresh_reply read(const reply& from) const;
};

// leave.lua
struct leave_call {
    const keys& lock_keys;
    std::string_view waiter;
    std::string_view value_prefix;
    std::string_view kept_value;  // of a hold that the script must not end; empty: none

    [[nodiscard]] script_call command(const server_words& words) const;
    // True: the waiter had a hold, which the script ended.
    [[nodiscard]] bool read(const reply& from) const;
};

// adopt.lua
struct adopt_call {
    const keys& lock_keys;
    std::string_view value;
    std::string ttl_ms;
    bool fenced = true;  // false: no token

    [[nodiscard]] script_call command(const server_words& words) const;
    // The token; nothing if the lock's key has another value or does not exist.
    [[nodiscard]] std::optional<fencing_token> read(const reply& from) const;
};

// acquire_batch.lua
struct acquire_batch_call {
    struct requested_lock {
        const keys& lock_keys;
        std::string_view value;
    };
    std::string ttl_ms;
    bool fenced = true;  // false: no token
    std::vector<requested_lock> locks;

    [[nodiscard]] script_call command(const server_words& words) const;
    // The tokens, one for each lock; empty if a lock is not free.
    [[nodiscard]] std::vector<fencing_token> read(const reply& from) const;
};

// The grant of a request that found the lock free. Needs no memory: an allocation could fail, and
// nothing would undo the grant any more.
[[nodiscard]] grant make_grant(const claim& requested, const acquire_reply& reply,
                               std::string&& value, time_point sent_at) noexcept;
// The error for permits that the server has refused.
[[noreturn]] void throw_permits_error(permits_refusal refusal, std::uint32_t stored_total,
                                      claim requested);

}  // namespace pawl::redis::native
