// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "message_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace resp3 = boost::redis::resp3;
using boost::system::error_code;

namespace pawl::redis {
namespace {

constexpr std::size_t min_read_size = 4096;

received_message::kind kind_of(char first) noexcept {
    if (first == '>') return received_message::kind::push;
    return first == '|' ? received_message::kind::attribute : received_message::kind::reply;
}

// Reserve no more for an array, since the server may announce any size.
constexpr std::size_t max_reserved = 64;

reply& target_of(const resp3::node_view& node, reply& root) {
    if (node.depth == 0) return root;
    auto* parent = &root;
    for (std::size_t depth = 1; depth < node.depth && !parent->items.empty(); ++depth)
        parent = &parent->items.back();
    return parent->items.emplace_back();
}

}  // namespace

void reply_builder::add(const resp3::node_view& node) {
    auto& target = target_of(node, root_);
    switch (node.data_type) {
    case resp3::type::number:
        target.type = reply::kind::integer;
        std::from_chars(node.value.data(), node.value.data() + node.value.size(), target.number);
        break;
    case resp3::type::boolean:
        target.type = reply::kind::integer;
        target.number = node.value == "t";
        break;
    case resp3::type::null: target.type = reply::kind::nil; break;
    case resp3::type::simple_error:
    case resp3::type::blob_error:
        target.type = reply::kind::error;
        target.text = node.value;
        break;
    case resp3::type::verbatim_string:
        // Its format comes first: "txt:".
        target.type = reply::kind::string;
        target.text = node.value.substr(std::min<std::size_t>(4, node.value.size()));
        break;
    default:
        if (resp3::is_aggregate(node.data_type)) {
            target.type = reply::kind::array;
            target.items.reserve(std::min(node.aggregate_size, max_reserved));
        } else {
            target.type = reply::kind::string;
            target.text = node.value;
        }
    }
}

message_reader::message_reader() : buffer_(min_read_size * 4) {}

std::span<char> message_reader::make_room() {
    if (begin_ == end_ && buffer_.size() > max_idle_buffer) {
        buffer_.resize(max_idle_buffer);
        buffer_.shrink_to_fit();
        begin_ = end_ = 0;
    }
    if (buffer_.size() - end_ < min_read_size) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
        // The buffer now starts with one incomplete message, whose size the checker has accepted.
        const auto max_size = checker_.limits().bytes + line_limit + min_read_size;
        if (buffer_.size() - end_ < min_read_size)
            buffer_.resize(std::min(buffer_.size() * 2, max_size));
    }
    return {buffer_.data() + end_, buffer_.size() - end_};
}

// Parses the next node of the message. Clears `has_node` if more bytes must be read first.
error_code message_reader::parse_node(std::string_view bytes, bool& has_node) {
    const auto consumed = parser_.get_consumed();
    error_code ec;
    if (!is_in_body_) ec = checker_.check_head(bytes.substr(consumed), consumed);
    if (ec) return ec;
    const auto node = parser_.consume(bytes, ec);
    if (ec) return ec;
    is_in_body_ = !node && (is_in_body_ || parser_.get_consumed() > consumed);
    has_node = node.has_value();
    if (has_node) builder_.add(*node);
    return {};
}

error_code message_reader::parse(std::optional<received_message>& message) {
    const auto bytes = unparsed();
    if (bytes.empty()) return {};
    bool has_node = true;
    while (has_node && !parser_.done()) {
        const auto ec = parse_node(bytes, has_node);
        if (ec) return ec;
    }
    if (!has_node) return {};
    begin_ += parser_.get_consumed();
    if (begin_ == end_) begin_ = end_ = 0;
    parser_.reset();
    checker_.next_message();
    auto& received = message.emplace();
    received.type = kind_of(bytes.front());
    builder_.take_reply(received.content);
    return {};
}

}  // namespace pawl::redis
