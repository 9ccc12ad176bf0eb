// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The undo queues of a client: one for each server.
#pragma once

#include "undo_queue.hpp"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::redis {

// Used on one strand.
class undo_queues {
public:
    undo_queues(std::shared_ptr<topology> servers, const backend_context& context,
                const limits& bounds, duration reply_timeout);

    // The queue for requests that are sent over this link. It lives as long as this object. The
    // first call for a link needs memory.
    [[nodiscard]] undo_queue& of(const link& server_link);

    [[nodiscard]] bool contains(std::string_view lock, std::string_view value) const;
    // These do the same as in undo_queue, for every queue.
    [[nodiscard]] bool empty() const noexcept;
    void begin_shutdown();
    void stop();
    boost::asio::awaitable<void> wait_until_empty(time_point deadline);

private:
    const std::shared_ptr<topology> servers_;
    const backend_context& context_;
    const limits& bounds_;
    const duration reply_timeout_;
    std::vector<std::shared_ptr<undo_queue>> queues_;
};

}  // namespace pawl::redis
