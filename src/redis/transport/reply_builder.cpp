// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "reply_builder.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::redis {

namespace resp3 = boost::redis::resp3;

namespace {

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

}  // namespace pawl::redis
