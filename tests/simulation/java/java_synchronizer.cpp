// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "java_synchronizer.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::simulation {

// A lost message delays the thread until `try_again_at`.
asio::awaitable<java_synchronizer::hold> java_synchronizer::acquire_with_messages(
    java_client& client, const std::string& channel, time_point give_up_at) {
    for (;;) {
        const auto next = co_await attempt_before_wait();
        if (next.granted.is_granted) co_return next.granted;
        co_await client.wait_for_message(channel, std::min(give_up_at, next.try_again_at));
        if (client.now() >= give_up_at || client.is_closed()) co_return hold();
    }
}

}  // namespace pawl::simulation
