// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes of locks: their names, as Curator and kazoo give them, and Pawl's data in them. No I/O.
#pragma once

#include "../core/store/queue_policy.hpp"

#include <pawl/zookeeper.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::zookeeper {

// The path of a lock below the root. Slashes separate nodes. Other bytes that a node cannot have,
// and names that Pawl's own nodes have, are percent-encoded.
[[nodiscard]] std::string path_of(std::string_view root, std::string_view name);
// Of one node of such a path.
[[nodiscard]] std::string decoded(std::string_view node);
// The node with the total of a semaphore.
[[nodiscard]] std::string total_path(std::string_view path);
// The node above; "/" for a node of the first level.
[[nodiscard]] std::string parent_of(std::string_view path);
// The last part of the path.
[[nodiscard]] std::string_view node_of(std::string_view path) noexcept;

// A holder or a waiter: a sequential node below the node of the lock.
struct contender {
    std::string node;           // its name
    std::int64_t sequence = 0;  // negative after the largest number
    core::lock_share share{};
};

// ZooKeeper counts to 2^31 - 1, and then gives the same number again and again. Nobody may come so
// far while a lock is held.
inline constexpr std::int64_t last_sequence = (std::int64_t{1} << 31) - (1 << 16);

// In the order of service. Ignores nodes that are no contenders. Throws errc::wrong_type for a
// sequential node of an unknown kind: another program orders something else there.
[[nodiscard]] std::vector<contender> contenders_of(const std::vector<std::string>& children,
                                                   std::string_view path);
[[nodiscard]] bool is_contender(std::string_view node) noexcept;

// The beginning of a contender's name, without the sequence number: "_c_UUID-__WRIT__".
[[nodiscard]] std::string node_prefix(std::string_view owner, lock_object object,
                                      const core::lock_share& share);
// The name that the node of a writer has as a reader, with the same number.
[[nodiscard]] std::string as_reader(std::string_view node);
// The name of the node that takes the place of this one, with the same number.
[[nodiscard]] std::string as_moved(std::string_view node);
// True: Pawl made the node for this owner.
[[nodiscard]] bool belongs_to(std::string_view node, std::string_view owner);
// Of the owner that `inspect` shows; empty for a node of another library without one.
[[nodiscard]] std::string owner_in(std::string_view node);

// Pawl's data in a contender's node.
struct contender_data {
    std::string host;
    std::int64_t pid = 0;
    std::uint64_t phase = 0;  // of a reader: the token that the readers share; 0: not known yet
    std::string command;
    // Of a node that took the place of another one: the number of that one's creation, its token.
    std::uint64_t created_by = 0;
};
[[nodiscard]] std::string text_of(const contender_data& data);
// Empty: another library's data.
[[nodiscard]] std::optional<contender_data> parse_data(std::string_view text);

}  // namespace pawl::zookeeper
