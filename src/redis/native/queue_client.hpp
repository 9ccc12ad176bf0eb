// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// This client in the server's queues: the requests for a place, and the messages to its waiters.
#pragma once

#include "../common/acquire_attempt.hpp"
#include "../common/server_access.hpp"
#include "lock_scripts.hpp"
#include "waiters.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace pawl::redis::native {

// Used on one strand.
class queue_client {
public:
    // The arguments must outlive the object.
    queue_client(server_access& access, lock_scripts& scripts) noexcept
        : access_(access), scripts_(scripts) {}
    queue_client(const queue_client&) = delete;
    queue_client& operator=(const queue_client&) = delete;

    // Takes the lock if its mode and the queue allow it; else waits in the queue. `give_up_at` =
    // time_point::min(): one attempt without a place in the queue. The arguments must outlive the
    // operation. Throws as `link::exec` does, and pawl::error.
    boost::asio::awaitable<std::optional<grant>> queue_up(acquire_attempt& undo_guard,
                                                          std::shared_ptr<owner_record> record,
                                                          const claim& requested,
                                                          time_point give_up_at);
    // The first request of the last plain exclusive acquire or try found its lock taken. Then the
    // next acquire that may wait asks for a place in the queue with its first request.
    [[nodiscard]] bool expects_to_wait() const noexcept { return expects_to_wait_; }
    void set_expects_to_wait(bool expects) noexcept { expects_to_wait_ = expects; }

    [[nodiscard]] waiter_table& waiters() noexcept { return waiters_; }

    // A message on this client's channel.
    void on_message(std::string_view payload);
    void on_invalidate(std::string_view key) { waiters_.notify_key(key); }
    // Messages that are published while there is no connection are lost. So every waiter refreshes,
    // which also restores its place in the queue.
    void on_connected(const link& connected_link);

private:
    server_access& access_;
    lock_scripts& scripts_;
    waiter_table waiters_;
    bool expects_to_wait_ = false;
};

}  // namespace pawl::redis::native
