// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_access.hpp"

#include "../../core/util/random.hpp"
#include "../../core/util/wakeup.hpp"

#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {

server_access::server_access(const options& server_options, backend_context context,
                             topology_factory connect, link::listener& receiver,
                             const std::string& channel, const limits& bounds)
    : options_(server_options),
      context_(std::move(context)),
      bounds_(bounds),
      connect_(std::move(connect)),
      servers_(connect_(receiver, channel)),
      undos_(servers_, context_, bounds_, options_.reply_timeout) {}

void server_access::check_room_for_undo(const link& server_link) {
    if (!undos_.of(server_link).is_full()) return;
    throw error(errc::unavailable,
                std::to_string(bounds_.max_undos) +
                    " earlier requests had no answer and are still being undone; ask again when "
                    "the server answers.");
}

asio::awaitable<void> server_access::pause(duration at_least, duration at_most) {
    core::wakeup pause_timer(time(), context_.strand);
    co_await pause_timer.wait_until(now() + core::random_between(time(), at_least, at_most));
}

}  // namespace pawl::redis
