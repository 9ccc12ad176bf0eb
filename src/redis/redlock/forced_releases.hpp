// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Ends holds by force, and notices that other clients do so. models/redlock/force.pml has the
// rules.
#pragma once

#include "attempts.hpp"
#include "calls.hpp"
#include "lock_factory.hpp"
#include "lock_inspection.hpp"
#include "node_client.hpp"
#include "round_owners.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and its operations.
class forced_releases {
public:
    forced_releases(node_client& client, const lock_factory& locks, lock_inspection& inspection,
                    attempts& own_attempts, const round_owners& owners)
        : client_(client),
          nodes_(client.nodes),
          locks_(locks),
          inspection_(inspection),
          attempts_(own_attempts),
          owners_(owners) {}

    // As `backend::force_release`.
    boost::asio::awaitable<bool> release(std::string_view name, fencing_token expected);
    // The node with this run says that the owner's hold is being ended by force.
    void on_message(std::string_view owner, std::string_view run);

private:
    struct round;
    boost::asio::awaitable<void> read_counter_at(const redis::keys& lock_keys, std::size_t node,
                                                 round& current);
    boost::asio::awaitable<void> raise_counters(const requested_lock& lock, std::int64_t limit);
    boost::asio::awaitable<void> raise_counter_at(const requested_lock& lock, std::int64_t limit,
                                                  std::size_t node, round& current);
    // False: the node has refused to take part.
    bool add_to_round(std::size_t node, const standing_reply& answer, round& current);
    void require_part_of_majority(const round& current, std::string_view name) const;

    node_client& client_;
    const node_table& nodes_;
    const lock_factory& locks_;
    lock_inspection& inspection_;
    attempts& attempts_;
    const round_owners& owners_;
    // For each owner whose hold is released by force: the nodes that have reported it. With more
    // owners, the oldest reports are forgotten, and the next renewal finds the loss.
    static constexpr std::size_t max_owners = 1024;
    std::map<std::string, std::set<std::size_t>> messages_;
};

}  // namespace pawl::redlock
