// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Builds one reply from the nodes of Boost.Redis' parser.
#pragma once

#include "link.hpp"

#include <boost/redis/resp3/node.hpp>

namespace pawl::redis {

class reply_builder {
public:
    // Add the nodes in the order of their arrival (pre-order).
    void add(const boost::redis::resp3::node_view& node);
    // Returns the whole reply; the next node begins another one.
    [[nodiscard]] reply take_reply() { return std::exchange(root_, reply{}); }

private:
    reply root_;
};

}  // namespace pawl::redis
