// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The line of waiting clients at each node. A release tells the first one, which tries again at
// once; a lost message is made good by the next attempt, a second later at the latest.
#pragma once

#include "lock_factory.hpp"
#include "node_client.hpp"

#include "../../core/util/wakeup.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and the operations that it spawns.
class waiting_line {
public:
    // `id` is the client's.
    waiting_line(node_client& client, const lock_factory& locks, std::string id)
        : client_(client), nodes_(client.nodes), locks_(locks), id_(std::move(id)) {}

    // A waiting acquire, for the messages of the nodes.
    class waiter {
    public:
        waiter(waiting_line& owner, const std::string& name);
        ~waiter();
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;
        core::wakeup woken;
        bool may_be_in_line = false;  // of a node
        bool was_granted = false;

    private:
        waiting_line& owner_;
        const std::multimap<std::string, waiter*, std::less<>>::iterator position_;
    };
    // A node has sent a message that the lock is free.
    void wake(std::string_view name);
    // Messages may be lost.
    void wake_all();

private:
    // Takes this client out of the line at every node, and passes on a message that it may have
    // got.
    void leave(const std::string& name);
    boost::asio::awaitable<void> leave_at(std::shared_ptr<const requested_lock> lock,
                                          std::size_t node);

    node_client& client_;
    const node_table& nodes_;
    const lock_factory& locks_;
    const std::string id_;
    std::multimap<std::string, waiter*, std::less<>> waiters_;
};

}  // namespace pawl::redlock
