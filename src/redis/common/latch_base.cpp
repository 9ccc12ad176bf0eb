// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "latch_base.hpp"

#include "server_access.hpp"

#include "../transport/server_errors.hpp"
#include "lock_base.hpp"

#include "../../core/util/outage.hpp"
#include "../../core/util/random.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

latch_base::latch_base(const options& server_options, const backend_context& context,
                       topology& servers, const limits& bounds)
    : options_(server_options),
      context_(context),
      servers_(servers),
      bounds_(bounds),
      listeners_(servers, *context.time, context.strand, bounds.max_unread_messages) {}

asio::awaitable<void> latch_base::pause(duration at_least, duration at_most) const {
    core::wakeup pause_timer(*context_.time, context_.strand);
    co_await pause_timer.wait_until(now() +
                                    core::random_between(*context_.time, at_least, at_most));
}

asio::awaitable<std::uint64_t> latch_base::count_waiters(const latch_names& names) {
    const auto subscribers =
        co_await listeners_.count_subscribers(names.key, names.channel, reply_deadline());
    throw_if_error(subscribers, names.key);
    if (subscribers.items.size() != 2) co_return 0;
    co_return static_cast<std::uint64_t>(subscribers.items[1].number);
}

asio::awaitable<latch_base::latch_event> latch_base::wait_for_event(
    channel_listeners::channel_listener& listener, wait_state& state, time_point give_up_at) const {
    const auto refresh_at = now() + core::random_between(*context_.time, min_latch_refresh_interval,
                                                         max_latch_refresh_interval);
    for (;;) {
        const bool was_notified =
            co_await listener.wakeup.wait_until(std::min(refresh_at, give_up_at));
        if (!was_notified) co_return latch_event::refresh;
        auto event = latch_event::none;
        const auto messages = std::exchange(listener.messages, {});
        for (const auto& message : messages) {
            const auto message_event = classify(message, state.generation);
            if (message_event == latch_event::opened) state.open_message = message;
            if (message_event == latch_event::opened) co_return message_event;
            if (message_event == latch_event::refresh) event = message_event;
        }
        if (event == latch_event::refresh) co_return event;
    }
}

asio::awaitable<bool> latch_base::wait(std::string_view name, std::uint64_t generation,
                                       time_point give_up_at) {
    const auto names = latch_names_of(name);
    const bool is_blocking = give_up_at > now();
    wait_state state{name, names, generation, {}};
    channel_listeners::channel_listener listener(listeners_, names.key, names.channel);
    core::outage outage(*context_.time, context_.strand, context_.log, bounds_.pauses());
    for (;;) {
        std::optional<error> trouble;
        const auto until =
            is_blocking ? std::max(give_up_at, now() + min_reply_wait) : reply_deadline();
        try {
            // Subscribe before the refresh, so that no message in between is missed.
            if (is_blocking && !listener.is_listening()) co_await listener.listen(until);
            const bool is_over = co_await refresh(state, until);
            if (is_over) co_return true;
        } catch (const connection_lost& e) {
            trouble = latch_unreachable(name, e.what());
        } catch (const error& e) {
            if (e.reason() != errc::unavailable && e.reason() != errc::unreachable) throw;
            trouble = e;
        }
        if (now() >= give_up_at) {
            if (trouble) throw *trouble;
            co_return false;
        }
        if (trouble) {
            co_await outage.pause(*trouble, give_up_at);
            continue;
        }
        outage.begin_anew();
        const bool was_misled = !state.open_message.empty();
        const auto event = co_await wait_for_event(listener, state, give_up_at);
        // Any user that may publish can forge this message, so the refresh decides. After one
        // misleading message, further ones cause a refresh only after a pause.
        if (event == latch_event::opened && was_misled)
            co_await pause(bounds_.first_pause / 2, bounds_.first_pause);
        if (event == latch_event::opened || now() < give_up_at) continue;
        const auto link_failure = servers_.link_of(names.key).connection_failure();
        if (!link_failure.empty()) throw latch_unreachable(name, link_failure);
        co_return false;
    }
}

error latch_unreachable(std::string_view name, std::string_view reason) {
    return could_not_be_requested("The latch '" + std::string(name) + "'", reason);
}

error latch_outcome_unknown(std::string_view name, std::string_view reason) {
    return {errc::unreachable, "Nobody knows whether the latch '" + std::string(name) +
                                   "' was changed: " + std::string(reason) +
                                   "; look at it when the server is up."};
}

}  // namespace pawl::redis
