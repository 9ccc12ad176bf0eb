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
// The largest buffer of a request that is kept for the next one.
constexpr std::size_t max_spare_text = 4096;

}  // namespace

asio::awaitable<void> reconnecting_link::wait_ready(time_point give_up_at) {
    if (is_closed()) throw closed_error();
    start();
    ready_waiter waiter(context_);
    // Append the waiter, so that requests are sent in the order of their calls.
    const auto position = ready_waiters_.insert(ready_waiters_.end(), &waiter);
    struct waiter_guard {
        std::list<ready_waiter*>& waiters;
        std::list<ready_waiter*>::iterator position;
        ~waiter_guard() { waiters.erase(position); }
    } const guard{ready_waiters_, position};
    const auto until = std::min(give_up_at, waiter.since + settings_.connect_timeout);
    while (!is_ready_) {
        const bool was_notified = co_await waiter.wakeup.wait_until(until);
        if (waiter.failure) std::rethrow_exception(waiter.failure);
        if (was_notified || is_ready_) continue;
        if (last_end_.failure) std::rethrow_exception(last_end_.failure);
        if (last_end_.text.empty() && connection_ && connection_->is_in_tls_handshake())
            last_end_.text = "no TLS handshake so far" + tls_hint();
        if (last_end_.text.empty() && !is_located() && connection_ && connection_->was_silent()) {
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
    auto text = std::exchange(spare_text_, {});
    text.clear();
    if (before == prelude::tracking)
        append_command(text, std::array<std::string_view, 3>{"CLIENT", "CACHING", "YES"});
    if (before == prelude::ask) append_command(text, std::array<std::string_view, 1>{"ASKING"});
    append_command(text, words);
    if (!is_ready()) co_await wait_ready(give_up_at);
    const request_guard guard(*this);
    pending_request request;
    watch_reply(request, give_up_at);
    connection_->send(&request, text, before == prelude::none ? 1 : 2);
    if (text.capacity() <= max_spare_text) spare_text_ = std::move(text);
    co_await request.async_wait();
    request.throw_if_failed(subject_);
    if (!settings_.accepts_replica && request.last_reply.type == reply::kind::error &&
        is_of_replica(request.last_reply.text)) {
        reconnect(server_name() + " is a replica now");
        throw error(errc::unavailable, subject_ + ": " + server_name() +
                                           " is a replica now, and the new master is not known "
                                           "yet; try again soon.");
    }
    co_return std::move(request.last_reply);
}

void reconnecting_link::watch_reply(pending_request& request, time_point give_up_at) {
    request.reply_due_at = time().now() + settings_.reply_timeout;
    request.give_up_at = give_up_at;
    if (!is_watching_replies_) {
        reply_watch_.prepare();
        is_watching_replies_ = true;
        try {
            asio::co_spawn(context_.strand, watch_replies(shared_from_this()), asio::detached);
        } catch (...) {
            is_watching_replies_ = false;
            throw;
        }
    } else if (is_reply_watch_parked_) {
        reply_watch_.notify();
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
        const request_guard guard(*this);
        pending_request request;
        watch_reply(request, give_up_at);
        const auto attempt_connection = connection_;
        attempt_connection->send_subscription(&request, std::move(text));
        co_await request.async_wait();
        request.throw_if_failed(subject_);
        for (const auto& refusal : request.earlier_replies)
            throw_if_error(refusal, subject_);
        if (is_ready_ && connection_ == attempt_connection) subscriptions_.confirm(channel);
    }
    subscription.kept = true;
}

void reconnecting_link::unsubscribe(const std::string& channel) noexcept {
    if (subscriptions_.remove_listener(channel)) send_unsubscribe(channel);
}

// Without memory the command is not sent. Further messages of the channel then find no listener.
void reconnecting_link::send_unsubscribe(const std::string& channel) noexcept {
    if (!is_ready_ || is_closed()) return;
    try {
        std::string text;
        const std::string_view command = session_.sharded ? "SUNSUBSCRIBE" : "UNSUBSCRIBE";
        append_command(text, std::array<std::string_view, 2>{command, channel});
        if (!connection_->is_closed()) connection_->send_subscription(nullptr, std::move(text));
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
        if (is_idle() && ++idle > 10) {
            is_reply_watch_parked_ = true;
            co_await reply_watch_.wait_until(time_point::max());
            is_reply_watch_parked_ = false;
            idle = 0;
            continue;
        }
        co_await reply_watch_.wait_until(time().now() + reply_watch_interval);
        const auto now = time().now();
        if (!connection_) continue;
        connection_->check_end();
        for (auto* request : connection_->waiting_requests()) {
            if (request->reply_due_at <= now && !timed_out_after_) {
                timed_out_after_ = settings_.reply_timeout;
                connection_->close();
            } else if (request->give_up_at <= now) {
                request->fail("no answer in time");
            }
        }
    }
}

}  // namespace pawl::redis
