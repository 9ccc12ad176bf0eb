// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "release_retry.hpp"

#include "../transport/server_errors.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::redis {

// A READONLY or MOVED reply does not end the repetition: the hold may still exist when the replica
// is a master again, or the slot is back.
asio::awaitable<void> retry_release(server_access& access, lifecycle& life, std::string key,
                                    const request_sender& send, duration ttl) {
    const lifecycle::operation_guard operation(life);
    const auto deadline = access.now() + ttl;
    core::back_off pauses(access.time(), access.bounds().pauses());
    lifecycle::interruptible_pause retry_pause(life);
    while (access.now() < deadline) {
        const bool is_open =
            co_await retry_pause.wait_until(std::min(deadline, access.now() + pauses.next_pause()));
        if (!is_open || life.is_forked()) co_return;
        try {
            co_await access.connected_link_of(key, deadline);
            const auto reply = co_await send(deadline);
            if (reply.type != reply::kind::error || !may_succeed_later(reply.text)) co_return;
        } catch (const error&) {}
    }
}

}  // namespace pawl::redis
