// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Asks the nodes who has a lock.
#pragma once

#include "core/util/spi.hpp"
#include "node_client.hpp"

#include "../common/keys.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

class node_failures;

// Used on one strand. The arguments must outlive it, and its operations.
class lock_inspection {
public:
    lock_inspection(node_client& client, const redis::key_scheme& scheme)
        : client_(client), nodes_(client.nodes), scheme_(scheme) {}

    boost::asio::awaitable<lock_info> inspect(std::string_view name);
    boost::asio::awaitable<bool> has_holder(std::string_view name, fencing_token token);
    // Waits until a majority has told its standing. Throws if none does.
    boost::asio::awaitable<void> require_majority();
    // Throws unless a majority has answered.
    void require_answers(const node_failures& failures, const std::string& consequence) const;

private:
    struct node_view;
    boost::asio::awaitable<void> inspect_at(const redis::keys& lock_keys, std::size_t node,
                                            node_view& into);
    boost::asio::awaitable<std::vector<node_view>> inspect_all(const redis::keys& lock_keys);

    node_client& client_;
    const node_table& nodes_;
    const redis::key_scheme& scheme_;
};

}  // namespace pawl::redlock
