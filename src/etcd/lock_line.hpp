// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The holders and waiters of one lock, in the order in which their keys were created.
#pragma once

#include "keys.hpp"
#include "transport/messages.hpp"

#include "../core/store/predecessor.hpp"
#include "../core/util/spi.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::etcd {

// Where the token of an entry is.
enum class token_place : std::uint8_t {
    none,      // not requested
    waiting,   // not known yet: the entry waits, or its client has not confirmed the grant
    created,   // the key's create revision
    modified,  // the revision of its last change
    stored     // in the value
};

// The value of a key: lines of NAME=VALUE. A key of another program has none of them, and is that
// of an exclusive holder.
struct entry_value {
    core::lock_share share{};
    token_place place = token_place::created;
    std::uint64_t token = 0;  // if it is stored
    identity process{};
    std::int64_t since_ms = 0;  // of the hold, since 1970
    bool is_foreign = false;    // no value of Pawl

    [[nodiscard]] std::string encode() const;
    [[nodiscard]] static entry_value decode(std::string_view text);
};

struct line_entry {
    std::string key{};
    entry_value value{};
    std::int64_t created = 0, modified = 0, lease = 0;

    [[nodiscard]] fencing_token token() const noexcept;
};

class lock_line {
public:
    // The keys of the answer that belong to the line. `revision` is the store's.
    lock_line(const operation_answer& range, std::string_view beginning, std::int64_t revision);

    [[nodiscard]] const std::vector<line_entry>& entries() const noexcept { return entries_; }
    [[nodiscard]] std::int64_t revision() const noexcept { return revision_; }
    [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const noexcept;
    [[nodiscard]] std::optional<core::blocker> blocker_of(std::size_t position,
                                                          std::uint32_t total) const noexcept;
    // How many entries at the beginning have the lock.
    [[nodiscard]] std::size_t holders(std::uint32_t total) const noexcept;
    // The token that the readers at the beginning share; empty if none of them has one yet.
    [[nodiscard]] std::optional<std::uint64_t> reader_token() const noexcept;
    // Some entry before this one has not confirmed its grant.
    [[nodiscard]] bool has_unconfirmed_before(std::size_t position) const noexcept;

private:
    std::vector<line_entry> entries_;
    std::vector<core::lock_share> shares_;
    const std::int64_t revision_;
};

}  // namespace pawl::etcd
