// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the nodes of a set know of each other's memories. A name of a node may lead to another
// server, or to a server that has forgotten its data: a nonce names each memory, and an incarnation
// orders the memories of one node. models/redlock/replaced.pml has rules and counterexamples.
#pragma once

#include "../scripting/reply_reader.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

// Neither a clock nor use reaches this: somebody has changed a counter. Lua's numbers end at 2^53.
inline constexpr std::int64_t absurd_token = 1LL << 52;

// A memory mark: the memory with this nonce is the node in this incarnation.
struct member_mark {
    std::int64_t incarnation = 0;
    std::string nonce{};
};

// What a node says of its membership in each answer that counts.
struct membership_state {
    std::int64_t incarnation = 0;
    // Of every node, the memory mark of the latest memory that this one has heard of.
    std::vector<member_mark> vector{};
    std::string nonce{};  // of the node's memory, which a confirmation must find again
};

// Why a node does not vote. `none`: it does.
enum class objection : std::uint8_t { none, amnesia, other_set, quarantine };

// The part of a reply that many scripts have in common.
struct standing_reply {
    objection refusal = objection::none;
    std::int64_t quarantine_ms = 0;  // with `quarantine`
};

// Another node has heard of a memory of this node that is not an earlier one. The same memory never
// is: several clients may have written its mark, with different incarnations.
[[nodiscard]] bool has_heard_of_later(const membership_state& other, std::size_t node,
                                      const membership_state& own) noexcept;

// The node's latest memory mark of itself is of another memory: the server became a member as
// another node, and its address has changed, or it has been replaced.
[[nodiscard]] bool is_of_another_node(const membership_state& own, std::size_t node) noexcept;

// Takes over the later memory mark of each node. Two memories of one incarnation, of which neither
// can have its mark at a majority, are both outdated: no memory has the resulting nonce.
void merge_marks(std::vector<member_mark>& into, const std::vector<member_mark>& other);

// The incarnation with which a memory can become this node: above those of all other memories.
[[nodiscard]] std::int64_t next_incarnation(const membership_state& other, std::size_t node,
                                            std::string_view nonce) noexcept;

// A nonce ends with the epoch of the Sentinels' master, if there are any: "HEX.EPOCH".
[[nodiscard]] std::string make_nonce(std::string random, std::uint64_t epoch);
[[nodiscard]] std::uint64_t epoch_of(std::string_view nonce) noexcept;

// The token of a time that a server's clock shows, in µs since 1970. Whatever the clock shows, the
// token is in range.
[[nodiscard]] std::int64_t token_of_clock(std::int64_t us_since_1970) noexcept;

// False: the clock shows a time that Pawl does not compute with, before 1970 or after 2069.
[[nodiscard]] bool is_sound_clock(std::int64_t us_since_1970) noexcept;

// Of the clocks of an odd number of nodes, the one that differs most from the median.
struct clock_difference {
    std::size_t node = 0;
    std::chrono::microseconds ahead{};  // of the median; negative: behind
};
[[nodiscard]] clock_difference furthest_clock(const std::vector<std::chrono::microseconds>& clocks);
// The clocks of a new set may differ by so much. The first tokens are above the clock that is most
// ahead, and until the others reach it, the clocks are no floor for tokens.
inline constexpr std::chrono::minutes most_clock_difference(1);
// How much later a clock shows the second token than the first.
[[nodiscard]] std::chrono::seconds time_between(std::int64_t first, std::int64_t second) noexcept;

// The form of the scripts: "INCARNATION:NONCE …". What is no mark becomes one with incarnation 0.
[[nodiscard]] std::string text_of(const std::vector<member_mark>& vector);
[[nodiscard]] std::vector<member_mark> parse_marks(std::string_view text);

// The fields of a membership are in range. Damage to one node must not spread to the others.
[[nodiscard]] bool is_sound(const membership_state& state, std::int64_t highest,
                            std::size_t nodes) noexcept;

// The parts that the replies of many scripts have in common. Why a node does not vote, if its reply
// says so.
[[nodiscard]] standing_reply standing_of(const redis::reply_reader& from);
// The incarnation and the vector, which begin at `first`. The caller adds the nonce.
[[nodiscard]] membership_state member_of(const redis::reply_reader& from, std::size_t first);

}  // namespace pawl::redlock
