// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Sends requests in the order of the calls, and ends every wait in time.
#include "reconnecting_link.hpp"

#include "server_errors.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// The interval at which the reply watch looks at the unanswered requests.
constexpr auto reply_watch_interval = 100ms;

}  // namespace

asio::awaitable<void> reconnecting_link::wait_ready(time_point give_up_at) {
    if (is_closed()) throw closed_error();
    start();
    connection_waiters::entry waiter(waiters_, time(), context_.strand);
    const auto until = std::min(give_up_at, waiter.since + settings_.connect_timeout);
    while (!state_.is_ready()) {
        const bool was_notified = co_await waiter.wakeup.wait_until(until);
        if (waiter.failure) std::rethrow_exception(waiter.failure);
        if (was_notified || state_.is_ready()) continue;
        if (last_end_.failure) std::rethrow_exception(last_end_.failure);
        if (last_end_.text.empty() && attempt_.connection &&
            attempt_.connection->is_in_tls_handshake())
            last_end_.text = "no TLS handshake so far" + tls_hint(settings_);
        if (last_end_.text.empty() && !target_.is_located() && attempt_.was_silent()) {
            last_end_.text = "it accepted the connection and has said nothing so far";
            last_end_.was_silent = true;
        }
        // The caller knows a limit of its own, and may have made other attempts within it.
        const bool is_own_limit = until < give_up_at;
        const auto limit = is_own_limit
                               ? " within " + std::to_string((until - waiter.since) / 1ms) + " ms"
                               : std::string();
        throw unreachable_error(
            (last_end_.was_silent ? "did not answer" : "could not be reached") + limit,
            last_end_.text.empty() ? locator_->progress() : last_end_.text);
    }
}

asio::awaitable<reply> reconnecting_link::exec(std::span<const std::string_view> words,
                                               time_point give_up_at, prelude before) {
    auto& text = spare_text_.begin();
    if (before == prelude::tracking)
        append_command(text, std::array<std::string_view, 3>{"CLIENT", "CACHING", "YES"});
    if (before == prelude::ask) append_command(text, std::array<std::string_view, 1>{"ASKING"});
    append_command(text, words);
    // Others use the spare text during a wait.
    std::string kept_text;
    if (!is_ready()) {
        kept_text.swap(text);
        co_await wait_ready(give_up_at);
    }
    const core::in_flight::guard guard(in_flight_);
    pending_request request;
    watch_reply(request, give_up_at);
    attempt_.connection->send(&request, kept_text.empty() ? text : kept_text,
                              before == prelude::none ? 1 : 2);
    spare_text_.shrink();
    co_await request.async_wait();
    request.throw_if_failed(target_.subject);
    if (!settings_.accepts_replica && request.last_reply.type == reply::kind::error &&
        is_of_replica(request.last_reply.text)) {
        reconnect(target_.server_name() + " is a replica now");
        throw error(errc::unavailable, target_.subject + ": " + target_.server_name() +
                                           " is a replica now, and the new master is not known "
                                           "yet; try again soon.");
    }
    co_return std::move(request.last_reply);
}

void reconnecting_link::watch_reply(pending_request& request, time_point give_up_at) {
    request.reply_due_at = time().now() + settings_.reply_timeout;
    request.give_up_at = give_up_at;
    if (!reply_watch_.is_running()) {
        reply_watch_.begin();
        try {
            asio::co_spawn(context_.strand, watch_replies(shared_from_this()), asio::detached);
        } catch (...) {
            reply_watch_.end();
            throw;
        }
    } else {
        reply_watch_.unpark();
    }
    ++context_.counts->requests;
}

asio::awaitable<void> reconnecting_link::subscribe(std::string channel, time_point give_up_at) {
    subscriptions_.add_listener(channel);
    // Unsubscribes after a cancelled or failed call, which may have subscribed.
    struct joined {
        reconnecting_link& owning_link;
        const std::string& channel;
        bool kept = false;
        ~joined() {
            if (!kept) owning_link.unsubscribe(channel);
        }
    } subscription{*this, channel};
    while (!subscriptions_.is_confirmed(channel)) {
        if (!is_ready()) {
            // The handshake of the next connection subscribes to it.
            co_await wait_ready(give_up_at);
            continue;
        }
        std::string text;
        const std::string_view command = session_.sharded ? "SSUBSCRIBE" : "SUBSCRIBE";
        append_command(text, std::array<std::string_view, 2>{command, channel});
        const core::in_flight::guard guard(in_flight_);
        pending_request request;
        watch_reply(request, give_up_at);
        const auto attempt_connection = attempt_.connection;
        attempt_connection->send_subscription(&request, std::move(text));
        co_await request.async_wait();
        request.throw_if_failed(target_.subject);
        for (const auto& refusal : request.earlier_replies)
            throw_if_error(refusal, target_.subject);
        if (state_.is_ready() && attempt_.connection == attempt_connection)
            subscriptions_.confirm(channel);
    }
    subscription.kept = true;
}

void reconnecting_link::unsubscribe(const std::string& channel) noexcept {
    if (subscriptions_.remove_listener(channel)) send_unsubscribe(channel);
}

// Without memory the command is not sent. Further messages of the channel then find no listener.
void reconnecting_link::send_unsubscribe(const std::string& channel) noexcept {
    if (!state_.is_ready() || is_closed()) return;
    try {
        std::string text;
        const std::string_view command = session_.sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE";
        append_command(text, std::array<std::string_view, 2>{command, channel});
        if (attempt_.is_open()) attempt_.connection->send_subscription(nullptr, std::move(text));
        ++context_.counts->requests;
    } catch (const std::bad_alloc&) {}
}

// Parks when no request waits, so that an idle client never wakes up. If the reply watch fails, for
// example for lack of memory, its guard closes the connection.
asio::awaitable<void> reconnecting_link::watch_replies(
    [[maybe_unused]] std::shared_ptr<reconnecting_link> self) {
    reply_watch_guard guard{*this};
    try {
        co_await check_replies();
        guard.is_completed = true;
    } catch (...) {}  // the guard closes the connection
}

asio::awaitable<void> reconnecting_link::check_replies() {
    auto idle = 0;
    while (!is_closed()) {
        if (attempt_.is_idle() && ++idle > 10) {
            reply_watch_.park();
            co_await reply_watch_.wait_until(time_point::max());
            reply_watch_.leave_park();
            idle = 0;
            continue;
        }
        co_await reply_watch_.wait_until(time().now() + reply_watch_interval);
        const auto now = time().now();
        if (!attempt_.connection) continue;
        attempt_.connection->check_end();
        for (auto* request : attempt_.connection->waiting_requests()) {
            if (request->reply_due_at <= now && !attempt_.timed_out_after) {
                attempt_.timed_out_after = settings_.reply_timeout;
                attempt_.close();
            } else if (request->give_up_at <= now) {
                request->fail("no answer in time");
            }
        }
    }
}

}  // namespace pawl::redis
