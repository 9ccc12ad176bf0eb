// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Maps a claim to an object of Redisson, with its kind, keys and owner.
#pragma once

#include "core/util/spi.hpp"

#include "../common/redisson_names.hpp"
#include "../scripting/script.hpp"

#include <pawl/redis.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::redisson {

enum class object_kind : std::uint8_t { lock, fair, read, write, permits, semaphore };

// Throws errc::unsupported for a mode or fairness that the object does not have.
[[nodiscard]] object_kind object_kind_of(const claim& requested, redisson_object object);

// The object that one owner requests or holds.
struct lock_object {
    // `owner` is the owner's field in the hash (a writer's ends with :write), or, for permits
    // with a lease, the first 12 bytes of their ids.
    lock_object(const claim& requested, object_kind kind_of_object, object_names names,
                std::string owner);

    object_kind kind;
    object_names keys;
    std::string owner;
    std::string own_key;  // a reader's lease, or the receipt for permits without one; else empty
    std::string channel;  // its messages cause another attempt
    duration ttl;
    std::string ttl_ms, permits, total_permits;
    bool fenced;

    // The key beside the lock's that renew.lua needs; the lock's own if it needs no other.
    [[nodiscard]] std::string_view renewal_key() const;
    // The longest lease of the request, for the undo queue.
    [[nodiscard]] duration undo_period() const noexcept;
    // The channel of a release. For a fair lock it is a prefix; the scripts append the waiter.
    [[nodiscard]] const std::string& release_channel() const;
};

// The kind's name in renew.lua.
[[nodiscard]] std::string_view to_string(object_kind kind) noexcept;

}  // namespace pawl::redis::redisson
