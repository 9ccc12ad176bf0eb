// Puts one reply together from Boost.Redis's nodes.
#pragma once

#include "link.hpp"

#include <boost/redis/resp3/node.hpp>

namespace pawl::redis {

class reply_builder {
public:
    // In pre-order, as they arrive.
    void add(const boost::redis::resp3::node_view& node);
    // The whole reply; the next node begins another.
    [[nodiscard]] reply take() { return std::exchange(root_, reply{}); }

private:
    reply root_;
};

}  // namespace pawl::redis
