// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lifecycle.hpp"

namespace asio = boost::asio;

namespace pawl::redis {

void lifecycle::end_pauses() {
    is_closing_ = true;
    for (auto* wakeup : pauses_)
        wakeup->notify();
}

asio::awaitable<void> lifecycle::wait_until_idle(undo_queues& undos, time_point deadline) {
    while ((active_operations_ > 0 || !undos.empty()) && time_.now() < deadline) {
        if (active_operations_ > 0)
            co_await operations_ended_.wait_until(deadline);
        else
            co_await undos.wait_until_empty(deadline);
    }
}

}  // namespace pawl::redis
