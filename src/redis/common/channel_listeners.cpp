// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "channel_listeners.hpp"

#include "../topology/connected_link.hpp"

#include <array>

namespace pawl::redis {

void channel_listeners::on_message(std::string_view channel, std::string_view payload) {
    const auto [begin, end] = by_channel_.equal_range(channel);
    for (auto it = begin; it != end; ++it) {
        // A waiter reads its messages at once, except while it waits for a reply. The server may
        // withhold that reply, so the list is bounded. An empty message stands for dropped ones.
        if (it->second->messages.size() >= max_messages_)
            it->second->messages.assign(1, std::string());
        else
            it->second->messages.emplace_back(payload);
        it->second->wakeup.notify();
    }
}

void channel_listeners::on_connected(const link& connected_link) {
    for (const auto& [channel, listener] : by_channel_) {
        if (&servers_.link_of(listener->key_) != &connected_link) continue;
        listener->messages.emplace_back();
        listener->wakeup.notify();
    }
}

boost::asio::awaitable<reply> channel_listeners::count_subscribers(std::string_view key,
                                                                   std::string_view channel,
                                                                   time_point give_up_at) {
    auto* server_link = co_await connected_link_of(servers_, key, give_up_at);
    const std::array<std::string_view, 3> words{"PUBSUB", server_link->current().count_command(),
                                                channel};
    auto subscribers = co_await server_link->exec(words, give_up_at);
    co_return subscribers;
}

channel_listeners::channel_listener::channel_listener(channel_listeners& listeners,
                                                      std::string_view key, std::string channel)
    : wakeup(listeners.time_, listeners.strand_),
      listeners_(listeners),
      key_(key),
      position_(listeners.by_channel_.emplace(std::move(channel), this)) {}

channel_listeners::channel_listener::~channel_listener() {
    const auto node = listeners_.by_channel_.extract(
        position_);  // unlike a copy of the name, `extract` allocates nothing
    if (link_ != nullptr) link_->unsubscribe(node.key());
}

boost::asio::awaitable<void> channel_listeners::channel_listener::listen(time_point give_up_at) {
    auto& server_link = listeners_.servers_.link_of(key_);
    co_await server_link.subscribe(position_->first, give_up_at);
    if (link_ != nullptr) link_->unsubscribe(position_->first);
    link_ = &server_link;
}

}  // namespace pawl::redis
