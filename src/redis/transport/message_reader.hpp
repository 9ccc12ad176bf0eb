// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Makes replies and pushes of the bytes that a connection has received. Does no I/O.
#pragma once

#include "link.hpp"
#include "reply_limits.hpp"

#include <boost/redis/resp3/node.hpp>
#include <boost/redis/resp3/parser.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::redis {

// The largest buffer that an idle connection keeps.
inline constexpr std::size_t max_idle_buffer = 64 << 10;

// Builds one reply from the nodes of Boost.Redis' parser.
class reply_builder {
public:
    // Add the nodes in the order of their arrival (pre-order).
    void add(const boost::redis::resp3::node_view& node);
    // Moves the whole reply into `target`; the next node begins another one.
    void take_reply(reply& target) {
        target = std::move(root_);
        root_.type = reply::kind::nil;
        root_.number = 0;
        root_.text.clear();
        root_.items.clear();
    }

private:
    reply root_;
};

struct received_message {
    enum class kind : std::uint8_t {
        reply,
        push,
        attribute,  // describes the next reply; Pawl ignores it
    };
    kind type = kind::reply;
    redis::reply content;
};

// Used on one strand.
class message_reader {
public:
    message_reader();

    void set_limits(reply_limits limits) noexcept { checker_.set_limits(limits); }
    // Where the next bytes belong; empty: the present message is too large.
    [[nodiscard]] std::span<char> make_room();
    // The number of bytes that were written there.
    void add(std::size_t received) noexcept { end_ += received; }
    // The bytes that were received and not parsed yet.
    [[nodiscard]] std::string_view unparsed() const noexcept {
        return {buffer_.data() + begin_, end_ - begin_};
    }
    // Parses the next message. `message` stays empty if more bytes must be read first.
    [[nodiscard]] boost::system::error_code parse(std::optional<received_message>& message);

private:
    boost::system::error_code parse_node(std::string_view bytes, bool& has_node);

    std::vector<char> buffer_;
    std::size_t begin_ = 0;  // of the bytes that were received and not parsed yet
    std::size_t end_ = 0;
    boost::redis::resp3::parser parser_;
    bool is_in_body_ = false;  // the head of a string was parsed, its body not yet
    reply_checker checker_{handshake_limits};
    reply_builder builder_;
};

}  // namespace pawl::redis
