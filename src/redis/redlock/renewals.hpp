// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Renews holds at the nodes. The rules that decide a renewal are in renewal_tally.hpp.
#pragma once

#include "core/util/spi.hpp"
#include "lock_factory.hpp"
#include "node_client.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and the operations that it spawns.
class renewals {
public:
    renewals(node_client& client, const lock_factory& locks)
        : client_(client),
          nodes_(client.nodes),
          timing_(client.timing),
          locks_(locks),
          unanswered_(client.nodes.size()) {}

    // Asks the nodes again and again, until each renewal is settled or its deadline is over.
    boost::asio::awaitable<void> renew(renewal_batch& batch);
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& held);
    // Before the hold is released.
    void end_renewals_of(const hold& released) noexcept;

private:
    struct renewal_round;
    class round_mark;
    [[nodiscard]] time_point now() const noexcept { return nodes_.now(); }
    boost::asio::awaitable<void> renew_round(std::shared_ptr<renewal_round> round);
    // Asks the node until it has decided about each hold, with pauses.
    boost::asio::awaitable<void> renew_at_node(std::shared_ptr<renewal_round> round,
                                               std::size_t node);
    // True: a node has refused a renewal as too late, and its clock is known by now.
    boost::asio::awaitable<bool> ask_for_renewals(std::shared_ptr<renewal_round> round,
                                                  std::size_t node,
                                                  std::vector<std::size_t> positions);
    [[nodiscard]] std::string node_time_text(std::size_t node, time_point when) const;

    node_client& client_;
    const node_table& nodes_;
    node_timing& timing_;
    const lock_factory& locks_;
    std::list<renewal_round*> rounds_;     // whose calls have not ended
    std::vector<std::size_t> unanswered_;  // requests, of each node
};

}  // namespace pawl::redlock
