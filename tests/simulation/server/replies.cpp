// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "replies.hpp"

namespace pawl::simulation {

void reply_builder::array(std::size_t count) {
    place(array_reply({}));
    if (count > 0)
        missing_.push_back(count);
    else
        finish();
}

void reply_builder::place(redis::reply value) {
    if (missing_.empty()) {
        reply_ = std::move(value);
        return;
    }
    auto* innermost = &reply_;
    for (std::size_t depth = 1; depth < missing_.size(); ++depth)
        innermost = &innermost->items.back();
    innermost->items.push_back(std::move(value));
}

// A complete array is an item of the array around it.
void reply_builder::finish() {
    while (!missing_.empty() && --missing_.back() == 0)
        missing_.pop_back();
}

std::string to_string(const redis::reply& reply) {
    using kind = redis::reply::kind;
    switch (reply.type) {
    case kind::nil: return "nil";
    case kind::integer: return std::to_string(reply.number);
    case kind::string: return '"' + reply.text + '"';
    case kind::error: return "error " + reply.text.substr(0, reply.text.find(' '));
    case kind::array: break;
    }
    std::string text = "[";
    for (const auto& item : reply.items) {
        if (text.size() > 1) text += ", ";
        text += to_string(item);
    }
    return text + "]";
}

}  // namespace pawl::simulation
