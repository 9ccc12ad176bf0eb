// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The common part of the latches of both key layouts: the wait for a message, with a refresh from
// time to time. docs/backends/redis.md and redisson.md describe the keys, scripts and messages.
#pragma once

#include "../scripting/run_script.hpp"
#include "channel_listeners.hpp"
#include "core/util/spi.hpp"
#include "limits.hpp"

#include <pawl/redis.hpp>

#include <string>
#include <string_view>

namespace pawl::redis {

class latch_base : public latches {
public:
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;

    void on_message(std::string_view channel, std::string_view payload) {
        listeners_.on_message(channel, payload);
    }
    void on_connected(const link& connected_link) { listeners_.on_connected(connected_link); }

protected:
    struct latch_names {
        std::string key;
        std::string channel;
    };
    struct wait_state {
        std::string_view name;
        const latch_names& names;
        std::uint64_t generation;
        std::string open_message;  // the last message that reported the generation's end
    };
    enum class latch_event : std::uint8_t { none, opened, refresh };

    // All arguments must outlive the object.
    latch_base(const options& server_options, const backend_context& context, topology& servers,
               const limits& bounds);

    [[nodiscard]] virtual latch_names latch_names_of(std::string_view name) const = 0;
    // Asks the server whether the generation is over.
    virtual boost::asio::awaitable<bool> refresh(wait_state& state, time_point give_up_at) = 0;
    // What a message means for that generation. An empty message: earlier messages may be lost.
    [[nodiscard]] virtual latch_event classify(std::string_view message,
                                               std::uint64_t generation) const = 0;

    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    [[nodiscard]] time_point reply_deadline() const { return now() + options_.reply_timeout; }
    boost::asio::awaitable<void> pause(duration at_least, duration at_most) const;
    // The number of the channel's subscribers.
    boost::asio::awaitable<std::uint64_t> count_waiters(const latch_names& names);

    const options& options_;
    const backend_context& context_;
    topology& servers_;
    const limits& bounds_;
    channel_listeners listeners_;

private:
    // Waits for a message about that generation. Returns `refresh` if none comes before the time of
    // the next refresh or `give_up_at`.
    boost::asio::awaitable<latch_event> wait_for_event(
        channel_listeners::channel_listener& listener, wait_state& state,
        time_point give_up_at) const;
};

[[nodiscard]] error latch_unreachable(std::string_view name, std::string_view reason);
[[nodiscard]] error latch_outcome_unknown(std::string_view name, std::string_view reason);

}  // namespace pawl::redis
