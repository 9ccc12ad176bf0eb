// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The largest allowed replies, and the check of each element's head before its body arrives.
#pragma once

#include <boost/system/error_code.hpp>

#include <cstddef>
#include <string_view>

namespace pawl::redis {

struct reply_limits {
    std::size_t bytes;
    std::size_t nodes;
};

// Before the end of the handshake, the peer may be any program. The longest reply of the handshake
// is the one to HELLO, which lists the server's modules with their arguments.
inline constexpr reply_limits handshake_limits{.bytes = 64 << 10, .nodes = 1024};

// The largest replies that Pawl's own requests can have:
//   SCAN COUNT 1000    1000 keys and one bucket of the server's table: with Pawl's names of up to
//                      512 bytes, in escapes of 3 bytes each, 1.6 MB and 1002 nodes. With longer
//                      names of other programs it may be too large; it has its own connection.
//   inspect            4096 holders of 4 to 6 nodes and 450 bytes each: 1.9 MB, 24 589 nodes
//   renewals, batches  256 and 257 integers or tokens
//   INFO, CONFIG GET   some KB of one section
// The limits also apply to messages of channels, to which other programs may publish.
inline constexpr reply_limits session_limits{.bytes = 4 << 20, .nodes = 64 << 10};

// The limit for numbers, errors, statuses and heads. Redis itself sends no longer lines.
inline constexpr std::size_t line_limit = 64 << 10;

// Checks one message at a time.
class reply_checker {
public:
    explicit reply_checker(reply_limits limits) noexcept : limits_(limits) {}
    void set_limits(reply_limits limits) noexcept { limits_ = limits; }
    [[nodiscard]] const reply_limits& limits() const noexcept { return limits_; }

    // `rest` begins with an element's head, `offset` bytes after the begin of the message. The head
    // may be incomplete. Rejects a too large element as soon as it is announced, and elements that
    // Boost.Redis' parser cannot handle.
    [[nodiscard]] boost::system::error_code check_head(std::string_view rest, std::size_t offset);
    void next_message() noexcept { announced_ = 0; }

private:
    reply_limits limits_;
    std::size_t announced_ = 0;  // nodes of this message, including those still to arrive
};

}  // namespace pawl::redis
