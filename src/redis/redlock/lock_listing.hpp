// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Lists the locks of all nodes.
#pragma once

#include "core/util/spi.hpp"
#include "lock_inspection.hpp"
#include "node_client.hpp"

#include "../common/keys.hpp"
#include "../common/limits.hpp"
#include "../topology/separate_servers.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::redlock {

class node_failures;

// Used on one strand. The arguments must outlive it, and its operations.
class lock_listing {
public:
    lock_listing(node_client& client, const redis::key_scheme& scheme, lock_inspection& inspection,
                 redis::topology_factory connect, const redis::limits& bounds)
        : client_(client),
          nodes_(client.nodes),
          scheme_(scheme),
          inspection_(inspection),
          connect_(std::move(connect)),
          bounds_(bounds) {}

    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix);
    boost::asio::awaitable<void> close(time_point give_up_at);

private:
    // Listings have connections of their own: their replies contain the names of other programs'
    // keys, and a reply that is too large ends its connection.
    [[nodiscard]] redis::topology& servers();
    boost::asio::awaitable<void> scan_at(const std::string& glob, std::size_t node,
                                         std::set<std::string>& into, node_failures& failures);

    node_client& client_;
    const node_table& nodes_;
    const redis::key_scheme& scheme_;
    lock_inspection& inspection_;
    const redis::topology_factory connect_;
    const redis::limits& bounds_;
    std::unique_ptr<redis::separate_servers> servers_;  // made by the first listing
};

}  // namespace pawl::redlock
