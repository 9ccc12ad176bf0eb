// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "release_retry.hpp"

#include "../transport/server_errors.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::redis {

// A READONLY or MOVED reply does not end the repetition: the hold may still exist when the replica
// is a master again, or the slot is back.
asio::awaitable<void> retry_release(server_access& access, client_tasks& tasks, std::string key,
                                    const request_sender& send, duration ttl) {
    const core::in_flight::guard operation(tasks.operations());
    const auto deadline = access.now() + ttl;
    core::back_off pauses(access.time(), access.bounds().pauses());
    client_tasks::interruptible_pause retry_pause(tasks);
    while (access.now() < deadline) {
        const bool is_open =
            co_await retry_pause.wait_until(std::min(deadline, access.now() + pauses.next_pause()));
        if (!is_open || tasks.is_forked()) co_return;
        try {
            co_await connected_link_of(access.servers(), key, deadline);
            const auto reply = co_await send(deadline);
            if (reply.type != reply::kind::error || !may_succeed_later(reply.text)) co_return;
        } catch (const error&) {}
    }
}

}  // namespace pawl::redis
