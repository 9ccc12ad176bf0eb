// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Why nodes do not vote, and what that means for the set, in words. Sends nothing.
#pragma once

#include "node_table.hpp"
#include "set_view.hpp"

#include <pawl/error.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::redlock {

inline constexpr std::string_view lost_set =
    "a majority of the nodes has lost its data at the same time, so nobody knows the highest token "
    "any more; when no holder of a lock is left, run pawl redlock init --force";
inline constexpr std::string_view few_members =
    "nodes that have lost their data can join when a majority of the other nodes answers";
inline constexpr std::string_view no_set =
    "the nodes form no set yet; when no holder of a lock of these nodes is left, run pawl redlock "
    "init, or request a lock and wait for a little more than ttl_max";

// A set's URL for messages: two sets with the same nodes differ only in their ttl_max.
[[nodiscard]] std::string with_ttl_max(std::string url);

// What a repair of the set may do, and what the last one did not achieve.
struct repair_notes {
    bool may_begin_set = false;  // a lock was requested, or an operator has said so
    std::string trouble{};
};

// The nodes and the notes must outlive it.
class set_diagnosis {
public:
    set_diagnosis(const node_table& nodes, const repair_notes& notes) noexcept
        : nodes_(nodes), notes_(notes), view_(nodes) {}

    // Why the node does not vote, for messages. Empty: it does.
    [[nodiscard]] std::string objection_of(std::size_t node) const;
    // The same as a code: errc::other_set, or errc::no_quorum.
    [[nodiscard]] errc reason_of(std::size_t node) const noexcept;
    // "HOST:PORT: REASON; …" for all nodes that do not vote.
    [[nodiscard]] std::string objections() const;
    // Why the nodes without a membership do not join, and what to do: what the last repair found,
    // or what the standings show. Empty if nothing keeps them from joining.
    [[nodiscard]] std::string trouble_of_set() const;
    // Why no majority can vote.
    [[nodiscard]] error no_majority() const;

private:
    // So many nodes do not vote for a reason that lasts that no majority is left.
    [[nodiscard]] std::optional<errc> lasting_reason() const;
    // What the last repair found, if that still holds.
    [[nodiscard]] std::string repair_trouble() const;

    const node_table& nodes_;
    const repair_notes& notes_;
    const set_view view_;
};

}  // namespace pawl::redlock
