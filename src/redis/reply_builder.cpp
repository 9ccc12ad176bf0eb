#include "reply_builder.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::redis {

namespace resp3 = boost::redis::resp3;

namespace {

// What an array says of its size is believed so far only.
constexpr std::size_t reserved_at_most = 64;

reply& place_for(const resp3::node_view& node, reply& root) {
    if (node.depth == 0) return root;
    auto* parent = &root;
    for (std::size_t depth = 1; depth < node.depth && !parent->items.empty(); ++depth)
        parent = &parent->items.back();
    return parent->items.emplace_back();
}

}  // namespace

void reply_builder::add(const resp3::node_view& node) {
    auto& here = place_for(node, root_);
    switch (node.data_type) {
    case resp3::type::number:
        here.what = reply::kind::integer;
        std::from_chars(node.value.data(), node.value.data() + node.value.size(), here.number);
        break;
    case resp3::type::boolean:
        here.what = reply::kind::integer;
        here.number = node.value == "t";
        break;
    case resp3::type::null: here.what = reply::kind::nil; break;
    case resp3::type::simple_error:
    case resp3::type::blob_error:
        here.what = reply::kind::error;
        here.text = node.value;
        break;
    default:
        if (resp3::is_aggregate(node.data_type)) {
            here.what = reply::kind::array;
            here.items.reserve(std::min(node.aggregate_size, reserved_at_most));
        } else {
            here.what = reply::kind::string;
            here.text = node.value;
        }
    }
}

}  // namespace pawl::redis
