#include "reply_builder.hpp"

#include <charconv>

namespace pawl::redis {

namespace resp3 = boost::redis::resp3;

void reply_builder::add(const resp3::node_view& node) {
    auto* level = &replies_;
    for (std::size_t depth = 0; depth < node.depth && !level->empty(); ++depth)
        level = &level->back().items;
    auto& here = level->emplace_back();
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
        here.what = resp3::is_aggregate(node.data_type) ? reply::kind::array : reply::kind::string;
        here.text = node.value;
    }
}

}  // namespace pawl::redis
