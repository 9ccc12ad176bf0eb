// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// This client's listeners to channels other than its own, such as the channel of a latch.
#pragma once

#include "../../core/util/wakeup.hpp"
#include "../topology/topology.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// The pause between two refreshes of a latch's waiter is random between these. A refresh replaces a
// lost message, and notices a dead connection.
inline constexpr duration min_latch_refresh_interval = std::chrono::seconds(4);
inline constexpr duration max_latch_refresh_interval = std::chrono::seconds(6);

// Used on one strand.
class channel_listeners {
public:
    // `max_messages` as limits::max_unread_messages.
    channel_listeners(topology& servers, runtime& time, boost::asio::any_io_executor strand,
                      std::size_t max_messages)
        : servers_(servers), time_(time), strand_(std::move(strand)), max_messages_(max_messages) {}

    // Adds the message to every listener of the channel, and notifies the listener.
    void on_message(std::string_view channel, std::string_view payload);
    // Messages between two connections are lost. So every listener on that link gets an empty
    // message, and is notified.
    void on_connected(const link& connected_link);

    // The server's reply to PUBSUB NUMSUB, or SHARDNUMSUB, for the channel.
    boost::asio::awaitable<reply> count_subscribers(std::string_view key, std::string_view channel,
                                                    time_point give_up_at);

    class channel_listener {
    public:
        // The channel is that of the key, which must outlive the listener.
        channel_listener(channel_listeners& listeners, std::string_view key, std::string channel);
        ~channel_listener();
        channel_listener(const channel_listener&) = delete;
        channel_listener& operator=(const channel_listener&) = delete;

        // After `listen` completes, no message is missed until the connection ends.
        boost::asio::awaitable<void> listen(time_point give_up_at);
        // False also if the key has moved to another server since.
        [[nodiscard]] bool is_listening() const noexcept {
            return link_ == &listeners_.servers_.link_of(key_);
        }

        core::wakeup wakeup;
        std::vector<std::string> messages;

    private:
        friend class channel_listeners;
        channel_listeners& listeners_;
        const std::string_view key_;
        std::multimap<std::string, channel_listener*, std::less<>>::iterator position_;
        link* link_ = nullptr;  // that of the subscription; null: none
    };

private:
    topology& servers_;
    runtime& time_;
    const boost::asio::any_io_executor strand_;
    const std::size_t max_messages_;
    std::multimap<std::string, channel_listener*, std::less<>> by_channel_;
};

}  // namespace pawl::redis
