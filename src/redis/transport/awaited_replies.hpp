// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which reply of a connection belongs to which request: the replies come in the order of the
// requests. Does no I/O.
#pragma once

#include "pending_request.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace pawl::redis {

// Used on one strand.
class awaited_replies {
public:
    [[nodiscard]] bool empty() const noexcept { return awaited_.empty(); }
    // `request` is null if its caller does not wait. `until_pong`: an error of the server may come
    // before the reply to a PING. `waits_in` is the queue that the request enters.
    void add(pending_request::queue& waits_in, pending_request* request, unsigned replies,
             bool until_pong);
    // The next reply has arrived. May destroy the request, and add others.
    void deliver(reply&& message);

    // Subscriptions are not counted: their effect ends with the connection anyway.
    [[nodiscard]] bool has_unanswered_requests() const noexcept;
    // The requests that wait for a reply, without those whose callers have gone.
    [[nodiscard]] std::vector<pending_request*> requests() const;
    // The newest error which no request has asked for, or which came in place of the replies to the
    // handshake; empty: none.
    [[nodiscard]] std::string last_words() const;

    // The caller of the request with this number is cancelled.
    void cancel(std::uint64_t number);
    // The request with this number has gone; its replies will still come.
    void forget(std::uint64_t number) noexcept { at(number).request = nullptr; }
    // Destroys the handlers of the requests without calling them.
    void drop_all() noexcept;

private:
    struct entry {
        pending_request* request;
        unsigned replies;
        bool until_pong;
    };
    [[nodiscard]] entry& at(std::uint64_t number) noexcept {
        return awaited_[static_cast<std::size_t>(number - first_number_)];
    }

    std::deque<entry> awaited_;       // in the order of their replies
    std::uint64_t first_number_ = 0;  // the number of `awaited_.front()`
    std::string unrequested_error_;   // the newest error that came without a request
};

}  // namespace pawl::redis
