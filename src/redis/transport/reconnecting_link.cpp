// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The life of a connection: attempts, the handshake, pushes, and the end.
#include "reconnecting_link.hpp"

#include "handshake.hpp"
#include "options.hpp"
#include "server_errors.hpp"
#include "where.hpp"

#include "../../core/util/back_off.hpp"
#include "../../core/util/exhausted.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <functional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// The shortest and longest pause between connection attempts; part of each pause is random. After a
// connection that lived for at least `max_pause`, the pauses start at `min_pause` again.
constexpr auto min_pause = 20ms;
constexpr auto max_pause = 1s;

std::string message_of(const std::exception_ptr& reason) {
    try {
        std::rethrow_exception(reason);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "an unknown exception";
    }
}

// The exception being handled, as a pawl::error if there is memory for one. Call it from a catch
// block.
std::exception_ptr current_failure(const std::string& subject) noexcept {
    try {
        try {
            throw;
        } catch (const error&) {
            return std::current_exception();
        } catch (const std::exception& e) {
            const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
            return std::make_exception_ptr(core::exhausted(subject + ": no connection can be made",
                                                           memory ? "out of memory" : e.what()));
        }
    } catch (...) {
        return std::current_exception();  // also if the new error could not be allocated
    }
}

}  // namespace

reconnecting_link::reconnecting_link(std::shared_ptr<locator> server_locator,
                                     connection_settings settings, std::string subject,
                                     const backend_context& context, link::listener& receiver,
                                     std::string channel)
    : locator_(std::move(server_locator)),
      settings_(std::move(settings)),
      context_(context),
      listener_(&receiver),
      channel_(std::move(channel)),
      target_{std::move(subject), !settings_.accepts_replica},
      look_up_(*context.time, context.strand),
      reconnect_(*context.time, context.strand),
      reply_watch_(*context.time, context.strand),
      in_flight_(*context.time, context.strand) {}

void reconnecting_link::log_failure(const std::string& reason) {
    const auto now = time().now();
    if (!failures_.is_due(reason, now)) return;
    log(reason);
    failures_.add(reason, now);
}

void reconnecting_link::start() {
    if (!state_.is_idle()) return;
    reconnect_.prepare();
    state_.start();
    try {
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    } catch (...) {
        state_.stop();
        throw;
    }
}

asio::awaitable<boost::system::error_code> reconnecting_link::run_connection(
    std::shared_ptr<reconnecting_link> self) {
    attempt_ = {};
    attempt_.ends_at = time().now() + std::min(settings_.connect_timeout, settings_.reply_timeout);
    net::addresses result;
    auto end_code = co_await locate(attempt_.ends_at);
    if (!end_code) end_code = co_await find_addresses(self, attempt_.ends_at, result);
    if (!end_code) end_code = co_await try_addresses(self, result, attempt_.ends_at);
    const auto attempt_connection = attempt_.connection;
    if (!end_code && attempt_connection && !is_closed()) {
        asio::co_spawn(context_.strand, shake_hands(self, attempt_connection), asio::detached);
        std::function<void(const reply&)> pushed = [this](const reply& m) { on_push(m); };
        end_code = co_await attempt_connection->read(std::move(pushed));
    }
    co_return end_code;
}

asio::awaitable<void> reconnecting_link::run(std::shared_ptr<reconnecting_link> self) {
    const drop_guard guard{self};
    core::back_off pauses(time(), {.first = min_pause, .longest = max_pause});
    while (!is_closed()) {
        boost::system::error_code end_code;
        // However the attempt ends, another one follows.
        try {
            end_code = co_await run_connection(self);
        } catch (...) {
            attempt_.end.failure = current_failure(target_.subject);
        }
        attempt_.close();
        if (state_.is_ready() && time().now() - attempt_.ready_since >= max_pause) pauses.reset();
        if (made_in_.is_forked()) break;
        try {
            on_connection_ended(end_code);
        } catch (...) {
            fail_waiting_requests(std::current_exception());
        }
        if (state_.is_closed()) break;
        if (attempt_.must_locate_again) {
            pauses.reset();
            continue;
        }
        const auto until = time().now() + pauses.next_pause();
        co_await reconnect_.wait_until(until);
    }
    if (made_in_.is_forked()) fail_waiting_requests(std::make_exception_ptr(closed_error()));
    attempt_.connection.reset();
}

asio::awaitable<std::string> reconnecting_link::find_objection(server_role role) {
    auto server = text_of(target_.location.server);
    if (target_.subject.ends_with(server)) server = "it";
    if (role == server_role::replica && !settings_.accepts_replica)
        co_return server + " " + std::string(settings_.replica_message);
    const bool is_confirmed = co_await locator_->confirm(target_.location, attempt_.ends_at);
    co_return is_confirmed ? "" : server + " is no longer the master";
}

asio::awaitable<login> reconnecting_link::fetch_login(
    std::shared_ptr<connection> attempt_connection) {
    std::function<bool()> is_over = [attempt_connection] {
        return attempt_connection->is_closed();
    };
    auto& source = *settings_.credentials;
    auto result =
        co_await source.get(time(), context_.strand, attempt_.ends_at, std::move(is_over));
    if (const auto notice = source.take_notice(); !notice.empty()) log(notice);
    co_return result;
}

asio::awaitable<session> reconnecting_link::open_session(
    std::shared_ptr<connection> attempt_connection, const login& used) {
    const auto commands = handshake_commands(settings_, used);
    pending_request request;
    const auto asked_at = time().now();
    attempt_connection->send(&request, commands.text, commands.replies);
    co_await request.async_wait();
    request.throw_if_failed(target_.subject);
    request.earlier_replies.push_back(std::move(request.last_reply));
    const auto& replies = request.earlier_replies;
    if (refuses_login(replies.front()) && settings_.credentials->refuse(used)) {
        if (attempt_.connection == attempt_connection)
            attempt_.end.text =
                "it refuses the new password, so the last one that it accepted "
                "follows";
        attempt_connection->close();
        throw connection_lost(attempt_.end.text);
    }
    auto new_session = parse_handshake(target_.server_subject(), replies, settings_);
    if (new_session.cluster && !settings_.accepts_cluster_node)
        throw error(errc::unsupported, target_.server_subject() + " " +
                                           std::string(settings_.cluster_node_message) + ".");
    new_session.asked_at = asked_at;
    co_return new_session;
}

asio::awaitable<void> reconnecting_link::shake_hands(
    [[maybe_unused]] std::shared_ptr<reconnecting_link> self,
    std::shared_ptr<connection> attempt_connection) {
    std::string trouble;
    try {
        const login used = co_await fetch_login(attempt_connection);
        if (!attempt_.uses(attempt_connection)) co_return;
        const auto channels = subscriptions_.all();
        auto new_session = co_await open_session(attempt_connection, used);
        auto objection = co_await find_objection(new_session.role);
        if (!attempt_.uses(attempt_connection)) co_return;
        if (!objection.empty()) {
            attempt_.end.text = std::move(objection);
            attempt_connection->close();
            co_return;
        }
        co_await check_server(attempt_connection, used, new_session);
        if (!attempt_.uses(attempt_connection)) co_return;
        new_session.connection_number = session_.connection_number + 1;
        new_session.epoch = target_.location.epoch;
        attempt_connection->allow_large_replies();
        // `subscribe_commands` ends with a PING, whose reply is the only one expected. If the
        // server refuses a subscription, the error arrives in its place.
        const auto subscribe = subscribe_commands(channel_, channels, new_session.sharded);
        pending_request subscribe_request;
        attempt_connection->send(&subscribe_request, subscribe.text, subscribe.replies);
        co_await subscribe_request.async_wait();
        subscribe_request.throw_if_failed(target_.subject);
        throw_if_error(subscribe_request.last_reply, target_.server_subject());
        if (attempt_.connection != attempt_connection) co_return;
        session_ = std::move(new_session);
        become_ready(used, channels);
        co_return;
    } catch (const connection_lost&) {
        co_return;  // `run` handles the end of the connection
    } catch (...) {
        if (attempt_.connection != attempt_connection) co_return;  // the next attempt has begun
        attempt_.end.failure = current_failure(target_.subject);
        attempt_connection->close();
        trouble = without_subject(message_of(attempt_.end.failure), target_.subject);
    }
    log_failure(trouble);
}

void reconnecting_link::become_ready(const login& used, const std::vector<std::string>& channels) {
    state_.become_ready();
    settings_.credentials->accept(used);
    addresses_.clear_resolved();
    attempt_.ready_since = time().now();
    last_end_.failure = nullptr;
    last_end_.text.clear();
    ++context_.counts->connections;
    for (const auto& unwanted : subscriptions_.confirm_resubscribed(channels))
        send_unsubscribe(unwanted);
    log(target_.is_located() ? "connected to " + target_.server_name() : "connected");
    failures_.clear();
    attempt_.notify_handshake();
    if (listener_ != nullptr) listener_->on_connected(*this);
    waiters_.notify_all();
}

void reconnecting_link::on_connection_ended(const boost::system::error_code& reason) {
    const bool was_ready = state_.end_connection();
    last_end_.has_advice = last_end_.was_silent = false;
    if (attempt_.end.failure) {
        last_end_.text = without_subject(message_of(attempt_.end.failure), target_.subject);
        // `shake_hands` has logged a failed handshake. Other failures before it are not logged, but
        // each waiting request gets them.
        if (was_ready && !state_.is_closed()) log_failure(last_end_.text);
    } else {
        const bool is_first = session_.connection_number == 0;
        last_end_ = explain_end(attempt_, reason, was_ready, is_first, target_, settings_);
        if (!state_.is_closed()) log_failure(last_end_.text);
    }
    last_end_.failure = was_ready ? nullptr : attempt_.end.failure;
    subscriptions_.mark_all_unconfirmed();
    if (attempt_.connection)
        attempt_.connection->fail_all(last_end_.text.empty() ? "it ended" : last_end_.text);
    attempt_.notify_handshake();
    settings_.credentials->notify_waiters();
    const auto now = time().now();
    if (was_ready && listener_ != nullptr) listener_->on_disconnected(*this);
    waiters_.end_waits([&](const connection_waiters::entry& waiter) -> std::exception_ptr {
        if (last_end_.failure) return last_end_.failure;
        if (!state_.is_closed() && now - waiter.since < settings_.min_wait_before_failure)
            return nullptr;
        return std::make_exception_ptr(unreachable_error(
            last_end_.was_silent ? "does not answer" : "cannot be reached", last_end_.text));
    });
}

void reconnecting_link::fail_waiting_requests(const std::exception_ptr& reason) {
    state_.end_connection();
    last_end_.failure = reason;
    subscriptions_.mark_all_unconfirmed();
    if (attempt_.connection) attempt_.connection->fail_all("it ended");
    attempt_.notify_handshake();
    settings_.credentials->notify_waiters();
    waiters_.end_waits([&](const connection_waiters::entry&) { return reason; });
}

error reconnecting_link::unreachable_error(const std::string& beginning,
                                           const std::string& reason) const {
    auto sentence = target_.subject + " " + beginning + (reason.empty() ? "" : ": " + reason);
    if (!last_end_.has_advice)
        sentence += "; " + (last_end_.was_silent
                                ? "see whether the server hangs, or whether another program has "
                                  "this port"
                                : locator_->advice());
    return {errc::unreachable, sentence + "."};
}

std::string reconnecting_link::connection_failure() const {
    if (state_.is_ready()) return {};
    if (last_end_.failure) return message_of(last_end_.failure);
    return last_end_.text.empty() ? std::string() : target_.subject + ": " + last_end_.text;
}

void reconnecting_link::on_push(const reply& message) {
    if (listener_ == nullptr || message.items.size() < 2) return;
    const auto& words = message.items;
    const auto& push_type = words[0].text;
    if ((push_type == "message" || push_type == "smessage") && words.size() == 3) {
        ++context_.counts->pushes;
        listener_->on_message(words[1].text, words[2].text);
    } else if (push_type == "sunsubscribe" && subscriptions_.is_confirmed(words[1].text)) {
        // The slot has moved to another node, and the channel with it. An empty message tells
        // the listener that messages may have been lost.
        subscriptions_.mark_unconfirmed(words[1].text);
        listener_->on_message(words[1].text, "");
    } else if (push_type == "invalidate") {
        ++context_.counts->pushes;
        // A null, as after FLUSHALL, means every key.
        if (words[1].type == reply::kind::nil) listener_->on_invalidate("");
        for (std::size_t i = 0; i < words[1].items.size() && listener_ != nullptr; ++i)
            listener_->on_invalidate(words[1].items[i].text);
    }
}

void reconnecting_link::reconnect(std::string reason) {
    if (is_closed()) return;
    attempt_.must_locate_again = true;
    attempt_.end.text = std::move(reason);
    attempt_.close();
    look_up_.end_wait();
    reconnect_.notify();
}

asio::awaitable<void> reconnecting_link::close(time_point give_up_at) {
    while (state_.is_ready() && !is_closed() && in_flight_.must_wait(give_up_at))
        co_await in_flight_.wait_until(give_up_at);
    state_.close();
    listener_ = nullptr;
    locator_->stop();
    reconnect_.notify();
    reply_watch_.end_wait();
    look_up_.stop();
    attempt_.close();
    // Between two attempts, nothing else notifies the requests that wait for a connection.
    waiters_.end_waits([this](const connection_waiters::entry& waiter) -> std::exception_ptr {
        return waiter.failure ? nullptr : std::make_exception_ptr(closed_error());
    });
}

link_factory reconnecting_link_factory(const options& server_options,
                                       const backend_context& context) {
    return [server_options, settings = settings_of(server_options), context](
               link::listener& receiver, const std::string& channel) {
        return std::make_shared<reconnecting_link>(
            std::make_shared<fixed_locator>(endpoint_of(server_options)), settings,
            describe(server_options), context, receiver, channel);
    };
}

}  // namespace pawl::redis
