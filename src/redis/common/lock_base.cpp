// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_base.hpp"

#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {

lock_base::lock_base(const options& server_options, backend_context context,
                     const topology_factory& connect, const std::string& channel,
                     const limits& bounds)
    : server_access(server_options, std::move(context), connect, *this, channel, bounds),
      tasks_(context_),
      watch_(context_),
      renewals_(*this, watch_),
      listing_(*this, tasks_, *this, [this](std::string_view name) { return key_of(name); }),
      durable_grants_(
          *this, [this](std::string_view name) { return key_of(name); },
          [this](topology& servers, renewal_batch& batch) { return renew_at(servers, batch); }) {}

asio::awaitable<void> lock_base::close(time_point give_up_at) {
    undos_.begin_shutdown();
    co_await tasks_.wait_until_idle(undos_, give_up_at);
    tasks_.end_pauses();
    undos_.stop();
    co_await servers_->close(give_up_at);
    co_await durable_grants_.close(give_up_at);
    co_await listing_.close(give_up_at);
    // On closed links every operation ends soon.
    co_await tasks_.wait_until_idle(undos_, time_point::max());
}

}  // namespace pawl::redis
