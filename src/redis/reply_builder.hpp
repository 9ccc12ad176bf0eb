// Puts the replies of one request together from Boost.Redis's nodes.
#pragma once

#include "link.hpp"

#include <boost/redis/resp3/node.hpp>

namespace pawl::redis {

class reply_builder {
public:
    // In pre-order, as they arrive.
    void add(const boost::redis::resp3::node_view& node);
    [[nodiscard]] std::vector<reply>& replies() noexcept { return replies_; }

private:
    std::vector<reply> replies_;
};

}  // namespace pawl::redis
