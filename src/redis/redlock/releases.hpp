// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Releases holds at all nodes, and takes back what nodes have granted in vain.
#pragma once

#include "calls.hpp"
#include "lock_factory.hpp"
#include "node_client.hpp"

#include "../common/undo_queue.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and the operations that it spawns.
class releases {
public:
    releases(node_client& client, const lock_factory& locks)
        : client_(client), nodes_(client.nodes), timing_(client.timing), locks_(locks) {}

    using shared_locks = std::shared_ptr<const std::vector<requested_lock>>;
    // The requests give up at this time.
    boost::asio::awaitable<release_result> release(const hold& held, time_point give_up_at);
    // Deletes the locks at that node, if they still have these values.
    [[nodiscard]] redis::undo_queue::undo undo_of(shared_locks requested,
                                                  std::shared_ptr<const std::string> token,
                                                  std::size_t node);

private:
    struct release_round;
    [[nodiscard]] time_point now() const noexcept { return nodes_.now(); }
    [[nodiscard]] bool is_decided(const release_round& round) const;
    boost::asio::awaitable<void> release_at(std::shared_ptr<release_round> round, std::size_t node);
    boost::asio::awaitable<redis::reply> send_release(shared_locks requested,
                                                      std::shared_ptr<const std::string> token,
                                                      std::size_t node, time_point give_up_at);

    node_client& client_;
    const node_table& nodes_;
    node_timing& timing_;
    const lock_factory& locks_;
};

}  // namespace pawl::redlock
