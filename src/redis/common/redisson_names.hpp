// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The names of Redisson's keys and channels.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::redisson {

struct object_names {
    std::string lock;      // HASH: owner -> count of entries; for a semaphore STRING: free permits
    std::string tagged;    // the name with its hash tag, a part of most other keys
    std::string counter;   // STRING: the last token of a FencedLock; never expires
    std::string queue;     // LIST: the waiters for a FairLock
    std::string timeouts;  // ZSET: each waiter's timeout
    std::string presence;  // ZSET: until when each waiter of Pawl's counts as present
    std::string lent_permits;  // ZSET: permit id -> end of its lease
    // The channels for releases of locks, read-write locks and semaphores.
    std::string channel, rw_channel, sc_channel;

    // STRING: the result of a release, in case that its reply is lost. `request` is the release's
    // random id.
    [[nodiscard]] std::string unlock_latch(std::string_view request) const;
    // STRING: a reader's lease.
    [[nodiscard]] std::string lease_of(std::string_view reader) const;
    // STRING: the number of permits without a lease that an owner of Pawl's has. Redisson itself
    // does not store this.
    [[nodiscard]] std::string receipt_of(std::string_view owner) const;
};

class naming {
public:
    // `key_template` contains `{name}` once, like the Java side's NameMapper. Empty: the plain
    // name.
    explicit naming(const std::string& key_template);

    [[nodiscard]] object_names names_of(std::string_view name) const;
    // The name of the lock with this key; nothing if no name has this key.
    [[nodiscard]] std::optional<std::string> name_of(std::string_view lock_key) const;
    // The possible names for a semaphore's key of lent permits: "a" and "{a}" have the same key.
    [[nodiscard]] std::vector<std::string> names_of_lent(std::string_view key) const;
    // The pattern for SCAN that matches the keys of all locks whose names begin with `prefix`.
    [[nodiscard]] std::string glob(std::string_view prefix) const;

private:
    std::string key_prefix_, key_suffix_;
};

}  // namespace pawl::redis::redisson
