// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The calls of the scripts for Redisson's locks, semaphores and latches. Each struct has the names
// of its scripts' keys and arguments, and reads their reply.
#pragma once

#include "lock_object.hpp"

#include "../common/renewal_call.hpp"
#include "../scripting/script_call.hpp"
#include "../scripting/server_words.hpp"
#include "../transport/link.hpp"

#include <pawl/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::redisson {

struct acquire_reply {
    std::optional<fencing_token> token{};  // set: granted
    std::int64_t left_ms = 0;              // of the holder's lease; negative: unknown, or no end
};

// acquire.lua, fair_acquire.lua, read_acquire.lua, write_acquire.lua, permits_acquire.lua and
// semaphore_acquire.lua, by the object's kind.
struct acquire_call {
    const lock_object& object;
    std::string queue_lease_ms;  // "0": do not enter the queue
    std::string presence_lease_ms;

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] acquire_reply read(const reply& from) const;
};

// release.lua, fair_release.lua, read_release.lua, write_release.lua, permits_release.lua and
// semaphore_release.lua, by the object's kind.
struct release_call {
    const lock_object& object;
    std::string_view unlock_latch;  // the key for the result; empty: none
    std::string unlock_latch_ms;
    std::string queue_lease_ms;  // as in the acquire that entered the queue

    [[nodiscard]] script_call command(const server_words& words) const;
    [[nodiscard]] release_result read(const reply& from) const;
};

// renew.lua
class renew_call : public renewal_call {
public:
    explicit renew_call(std::size_t count);
    void add(const lock_object& object, std::string ttl_ms);
};

// downgrade.lua
struct downgrade_call {
    const lock_object& reader;
    std::string_view writer_owner;

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: the writer did not hold the lock.
    [[nodiscard]] bool read(const reply& from) const;
};

struct inspect_reply {
    struct holder_entry {
        std::string_view owner;
        std::uint64_t count = 0;
        std::int64_t left_ms = 0;  // negative: no end
        lock_mode mode = lock_mode::exclusive;
        std::uint32_t permits = 0;
    };
    std::int64_t total_permits = 0;
    fencing_token token{};  // the last one given
    std::uint64_t waiters = 0;
    std::vector<holder_entry> holders{};
    std::optional<std::int64_t> free_permits{};
    std::int64_t lent_permits = 0;
};

// inspect.lua
struct inspect_call {
    const object_names& names;

    [[nodiscard]] script_call command(const server_words& words) const;
    // The result refers to the reply.
    [[nodiscard]] inspect_reply read(const reply& from) const;
};

// resize.lua
struct resize_call {
    const object_names& names;
    std::string permits;

    [[nodiscard]] script_call command(const server_words& words) const;
    void read(const reply& from) const;
};

// force_release.lua
struct force_release_call {
    const object_names& names;
    std::string expected{};  // the token that the holder must have; empty: any holder

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: nothing was released.
    [[nodiscard]] bool read(const reply& from) const;
};

// latch_set.lua
struct latch_set_call {
    std::string_view latch_key;
    std::string count;
    std::string_view channel;

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: a latch is counting.
    [[nodiscard]] bool read(const reply& from) const;
};

// latch_down.lua
struct latch_down_call {
    std::string_view latch_key;
    std::string steps;
    std::string_view channel;

    [[nodiscard]] script_call command(const server_words& words) const;
    // The remaining count.
    [[nodiscard]] std::uint64_t read(const reply& from) const;
};

// latch_reset.lua
struct latch_reset_call {
    std::string_view latch_key;
    std::string_view channel;

    [[nodiscard]] script_call command(const server_words& words) const;
    // False: there was no latch.
    [[nodiscard]] bool read(const reply& from) const;
};

}  // namespace pawl::redis::redisson
