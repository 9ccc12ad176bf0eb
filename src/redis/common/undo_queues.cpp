// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "undo_queues.hpp"

#include <algorithm>
#include <utility>

namespace pawl::redis {

undo_queues::undo_queues(std::shared_ptr<topology> servers, const backend_context& context,
                         const limits& bounds, duration reply_timeout)
    : servers_(std::move(servers)),
      context_(context),
      bounds_(bounds),
      reply_timeout_(reply_timeout) {
    for (const auto* each : servers_->links())
        static_cast<void>(of(*each));
}

undo_queue& undo_queues::of(const link& server_link) {
    for (const auto& each : queues_)
        if (&each->server_link() == &server_link) return *each;
    auto part = servers_->part_of(server_link);
    if (!part) part = servers_;
    queues_.push_back(std::make_shared<undo_queue>(std::move(part), server_link, context_, bounds_,
                                                   reply_timeout_));
    return *queues_.back();
}

bool undo_queues::contains(std::string_view lock, std::string_view value) const {
    return std::ranges::any_of(queues_,
                               [&](const auto& each) { return each->contains(lock, value); });
}

bool undo_queues::empty() const noexcept {
    return std::ranges::all_of(queues_, [](const auto& each) { return each->empty(); });
}

void undo_queues::begin_shutdown() {
    for (const auto& each : queues_)
        each->begin_shutdown();
}

void undo_queues::stop() {
    for (const auto& each : queues_)
        each->stop();
}

boost::asio::awaitable<void> undo_queues::wait_until_empty(time_point deadline) {
    for (std::size_t i = 0; i < queues_.size(); ++i)
        co_await queues_[i]->wait_until_empty(deadline);
}

}  // namespace pawl::redis
