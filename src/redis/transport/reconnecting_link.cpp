// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The life of a connection: attempts, the handshake, pushes, and the end.
#include "reconnecting_link.hpp"

#include "handshake.hpp"
#include "options.hpp"
#include "server_errors.hpp"

#include "../../core/util/exhausted.hpp"
#include "../../core/util/random.hpp"

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
constexpr auto failure_log_interval = 60s;

std::string message_of(const std::exception_ptr& reason) {
    try {
        std::rethrow_exception(reason);
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "an unknown exception";
    }
}

// For a text that the subject precedes.
std::string without_subject(std::string text, const std::string& subject) {
    if (text.starts_with(subject + ": ")) text.erase(0, subject.size() + 2);
    return text;
}

}  // namespace

reconnecting_link::reconnecting_link(std::shared_ptr<locator> server_locator,
                                     connection_settings settings, std::string subject,
                                     const backend_context& context, link::listener& receiver,
                                     std::string channel)
    : locator_(std::move(server_locator)),
      settings_(std::move(settings)),
      subject_(std::move(subject)),
      context_(context),
      listener_(&receiver),
      channel_(std::move(channel)),
      reconnect_(*context.time, context.strand),
      reply_watch_(*context.time, context.strand),
      look_up_ended_(*context.time, context.strand),
      requests_ended_(*context.time, context.strand) {
    requests_ended_.prepare();
}

// A change at once, and a reason that stays every minute: an outage has several attempts a second.
void reconnecting_link::log_failure(const std::string& reason) {
    const auto now = time().now();
    if (reason == logged_failure_ && now < failure_logged_at_ + failure_log_interval) return;
    log(reason);
    logged_failure_ = reason;
    failure_logged_at_ = now;
}

void reconnecting_link::start() {
    if (is_running_) return;
    reconnect_.prepare();
    is_running_ = true;
    try {
        asio::co_spawn(context_.strand, run(shared_from_this()), asio::detached);
    } catch (...) {
        is_running_ = false;
        throw;
    }
}

std::exception_ptr reconnecting_link::current_failure() const noexcept {
    try {
        try {
            throw;
        } catch (const error&) {
            return std::current_exception();
        } catch (const std::exception& e) {
            const bool memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
            return std::make_exception_ptr(core::exhausted(subject_ + ": no connection can be made",
                                                           memory ? "out of memory" : e.what()));
        }
    } catch (...) {
        return std::current_exception();  // also if the new error could not be allocated
    }
}

asio::awaitable<boost::system::error_code> reconnecting_link::run_connection(
    std::shared_ptr<reconnecting_link> self) {
    connection_.reset();
    timed_out_after_.reset();
    attempt_end_.failure = nullptr;
    attempt_end_.text.clear();
    must_locate_again_ = false;
    attempt_ends_at_ = time().now() + std::min(settings_.connect_timeout, settings_.reply_timeout);
    net::addresses result;
    auto end_code = co_await locate(attempt_ends_at_);
    if (!end_code) end_code = co_await find_addresses(self, attempt_ends_at_, result);
    if (!end_code) end_code = co_await try_addresses(self, result, attempt_ends_at_);
    const auto attempt_connection = connection_;
    if (!end_code && attempt_connection && !is_closed()) {
        asio::co_spawn(context_.strand, shake_hands(self, attempt_connection), asio::detached);
        std::function<void(const reply&)> pushed = [this](const reply& m) { on_push(m); };
        end_code = co_await attempt_connection->read(std::move(pushed));
    }
    co_return end_code;
}

asio::awaitable<void> reconnecting_link::run(std::shared_ptr<reconnecting_link> self) {
    const drop_guard guard{self};
    auto pause = duration(min_pause);
    while (!is_closed()) {
        boost::system::error_code end_code;
        // However the attempt ends, another one follows.
        try {
            end_code = co_await run_connection(self);
        } catch (...) {
            attempt_end_.failure = current_failure();
        }
        if (connection_) connection_->close();
        if (is_ready_ && time().now() - ready_since_ >= max_pause) pause = min_pause;
        if (made_in_.is_forked()) break;
        try {
            on_connection_ended(end_code);
        } catch (...) {
            fail_waiting_requests(std::current_exception());
        }
        if (is_closing_) break;
        if (must_locate_again_) {
            pause = min_pause;
            continue;
        }
        const auto until = time().now() + core::random_between(time(), pause / 2, pause);
        pause = std::min<duration>(pause * 2, max_pause);
        co_await reconnect_.wait_until(until);
    }
    if (made_in_.is_forked()) fail_waiting_requests(std::make_exception_ptr(closed_error()));
    connection_.reset();
}

asio::awaitable<std::string> reconnecting_link::find_objection(server_role role) {
    auto server = text_of(location_.server);
    if (subject_.ends_with(server)) server = "it";
    if (role == server_role::replica && !settings_.accepts_replica)
        co_return server + " " + std::string(settings_.replica_message);
    const bool is_confirmed = co_await locator_->confirm(location_, attempt_ends_at_);
    co_return is_confirmed ? "" : server + " is no longer the master";
}

asio::awaitable<login> reconnecting_link::fetch_login(
    std::shared_ptr<connection> attempt_connection) {
    std::function<bool()> is_over = [attempt_connection] {
        return attempt_connection->is_closed();
    };
    auto& source = *settings_.credentials;
    auto result =
        co_await source.get(time(), context_.strand, attempt_ends_at_, std::move(is_over));
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
    request.throw_if_failed(subject_);
    request.earlier_replies.push_back(std::move(request.last_reply));
    const auto& replies = request.earlier_replies;
    if (refuses_login(replies.front()) && settings_.credentials->refuse(used)) {
        if (connection_ == attempt_connection)
            attempt_end_.text =
                "it refuses the new password, so the last one that it accepted "
                "follows";
        attempt_connection->close();
        throw connection_lost(attempt_end_.text);
    }
    auto new_session = parse_handshake(server_subject(), replies, settings_);
    if (new_session.cluster && !settings_.accepts_cluster_node)
        throw error(errc::unsupported,
                    server_subject() + " " + std::string(settings_.cluster_node_message) + ".");
    new_session.asked_at = asked_at;
    co_return new_session;
}

asio::awaitable<void> reconnecting_link::shake_hands(
    [[maybe_unused]] std::shared_ptr<reconnecting_link> self,
    std::shared_ptr<connection> attempt_connection) {
    std::string trouble;
    try {
        const login used = co_await fetch_login(attempt_connection);
        if (connection_ != attempt_connection || attempt_connection->is_closed()) co_return;
        const auto channels = subscriptions_.all();
        auto new_session = co_await open_session(attempt_connection, used);
        auto objection = co_await find_objection(new_session.role);
        if (connection_ != attempt_connection || attempt_connection->is_closed()) co_return;
        if (!objection.empty()) {
            attempt_end_.text = std::move(objection);
            attempt_connection->close();
            co_return;
        }
        co_await check_server(attempt_connection, used, new_session);
        if (connection_ != attempt_connection || attempt_connection->is_closed()) co_return;
        new_session.connection_number = session_.connection_number + 1;
        new_session.epoch = location_.epoch;
        attempt_connection->allow_large_replies();
        // `subscribe_commands` ends with a PING, whose reply is the only one expected. If the
        // server refuses a subscription, the error arrives in its place.
        const auto subscribe = subscribe_commands(channel_, channels, new_session.sharded);
        pending_request subscribe_request;
        attempt_connection->send(&subscribe_request, subscribe.text, subscribe.replies);
        co_await subscribe_request.async_wait();
        subscribe_request.throw_if_failed(subject_);
        throw_if_error(subscribe_request.last_reply, server_subject());
        if (connection_ != attempt_connection) co_return;
        session_ = std::move(new_session);
        is_ready_ = true;
        settings_.credentials->accept(used);
        resolved_.clear();
        ready_since_ = time().now();
        last_end_.failure = nullptr;
        last_end_.text.clear();
        ++context_.counts->connections;
        for (const auto& unwanted : subscriptions_.confirm_resubscribed(channels))
            send_unsubscribe(unwanted);
        log(is_located() ? "connected to " + server_name() : "connected");
        logged_failure_.clear();
        if (handshake_ended_) handshake_ended_->notify();
        if (listener_ != nullptr) listener_->on_connected(*this);
        for (auto* waiter : ready_waiters_)
            waiter->wakeup.notify();
        co_return;
    } catch (const connection_lost&) {
        co_return;  // `run` handles the end of the connection
    } catch (...) {
        if (connection_ != attempt_connection) co_return;  // the next attempt has begun
        attempt_end_.failure = current_failure();
        attempt_connection->close();
        trouble = without_subject(message_of(attempt_end_.failure), subject_);
    }
    log_failure(trouble);
}

void reconnecting_link::explain_end(const boost::system::error_code& reason, bool was_ready) {
    const auto words = connection_ && attempt_end_.text.empty() ? connection_->last_words() : "";
    last_end_.has_advice = !words.empty();
    last_end_.was_silent = timed_out_after_ && connection_ && connection_->was_silent();
    std::optional<error> explanation;
    if (!words.empty()) {
        explanation = to_error(words, server_subject());
        last_end_.text = without_subject(explanation->what(), subject_);
        last_end_.text.pop_back();  // the full stop
        // A server that is full, or a proxy that cannot reach its own, may accept the next attempt.
        if (!was_ready && explanation->reason() == errc::refused)
            attempt_end_.failure = std::make_exception_ptr(*explanation);
        return;
    }
    if (!was_ready && connection_) explanation = connection_->explain_end(reason, subject_);
    last_end_.text =
        explanation ? without_subject(explanation->what(), subject_) : describe_end(reason);
    if (!explanation && !was_ready && speaks_another_protocol(reason))
        explanation = error(
            errc::protocol,
            subject_ + " does not speak the protocol of Redis: " + describe_connect_error(reason) +
                "; check host and port, and whether it needs TLS (" +
                std::string(settings_.with_tls) + ").");
    if (explanation) attempt_end_.failure = std::make_exception_ptr(*explanation);
}

void reconnecting_link::on_connection_ended(const boost::system::error_code& reason) {
    const bool was_ready = std::exchange(is_ready_, false);
    last_end_.has_advice = last_end_.was_silent = false;
    if (attempt_end_.failure) {
        last_end_.text = without_subject(message_of(attempt_end_.failure), subject_);
        // `shake_hands` has logged a failed handshake. Other failures before it are not logged, but
        // each waiting request gets them.
        if (was_ready && !is_closing_) log_failure(last_end_.text);
    } else {
        explain_end(reason, was_ready);
        if (!is_closing_) log_failure(last_end_.text);
    }
    last_end_.failure = was_ready ? nullptr : attempt_end_.failure;
    subscriptions_.mark_all_unconfirmed();
    if (connection_) connection_->fail_all(last_end_.text.empty() ? "it ended" : last_end_.text);
    if (handshake_ended_) handshake_ended_->notify();
    settings_.credentials->notify_waiters();
    const auto now = time().now();
    if (was_ready && listener_ != nullptr) listener_->on_disconnected(*this);
    for (auto at = ready_waiters_.begin(); at != ready_waiters_.end();) {
        auto* waiter = *at++;
        if (last_end_.failure)
            waiter->failure = last_end_.failure;
        else if (is_closing_ || now - waiter->since >= settings_.min_wait_before_failure)
            waiter->failure = std::make_exception_ptr(unreachable_error(
                last_end_.was_silent ? "does not answer" : "cannot be reached", last_end_.text));
        if (waiter->failure) waiter->wakeup.notify();
    }
}

void reconnecting_link::fail_waiting_requests(const std::exception_ptr& reason) {
    is_ready_ = false;
    last_end_.failure = reason;
    subscriptions_.mark_all_unconfirmed();
    if (connection_) connection_->fail_all("it ended");
    if (handshake_ended_) handshake_ended_->notify();
    settings_.credentials->notify_waiters();
    for (auto* waiter : ready_waiters_) {
        waiter->failure = reason;
        waiter->wakeup.notify();
    }
}

error reconnecting_link::unreachable_error(const std::string& beginning,
                                           const std::string& reason) const {
    auto sentence = subject_ + " " + beginning + (reason.empty() ? "" : ": " + reason);
    if (!last_end_.has_advice)
        sentence += "; " + (last_end_.was_silent
                                ? "see whether the server hangs, or whether another program has "
                                  "this port"
                                : locator_->advice());
    return {errc::unreachable, sentence + "."};
}

std::string reconnecting_link::connection_failure() const {
    if (is_ready_) return {};
    if (last_end_.failure) return message_of(last_end_.failure);
    return last_end_.text.empty() ? std::string() : subject_ + ": " + last_end_.text;
}

// A message for users: why the connection ended, and the usual cause.
std::string reconnecting_link::describe_end(const boost::system::error_code& reason) const {
    if (!attempt_end_.text.empty()) return attempt_end_.text;
    if (!is_located()) return describe_network_end(reason);
    return "the master " + server_name() + ": " + describe_network_end(reason);
}

std::string reconnecting_link::tls_hint() const {
    return " (a port without TLS wants " + std::string(settings_.without_tls) + " in place of " +
           std::string(settings_.with_tls) + ")";
}

std::string reconnecting_link::describe_network_end(const boost::system::error_code& reason) const {
    const bool reached = connection_ && connection_->was_opened();
    if (timed_out_after_) {
        const auto limit = std::to_string(*timed_out_after_ / 1ms) + " ms";
        if (settings_.tls.enabled && !reached)
            return "no TLS handshake within " + limit + tls_hint();
        if (connection_ && connection_->was_silent())
            return "it accepted the connection and did not answer within " + limit;
        return "no answer within " + limit;
    }
    const bool was_cut = reason == asio::error::eof || reason == asio::error::connection_reset;
    if (was_cut && session_.connection_number == 0 && reached && !settings_.tls.enabled)
        return "it closed the connection without an answer (is it Redis? a TLS port wants " +
               std::string(settings_.with_tls) + " in place of " +
               std::string(settings_.without_tls) + ")";
    return describe_connect_error(reason);
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
    must_locate_again_ = true;
    attempt_end_.text = std::move(reason);
    if (connection_) connection_->close();
    look_up_ended_.notify();
    reconnect_.notify();
}

asio::awaitable<void> reconnecting_link::close(time_point give_up_at) {
    while (is_ready_ && !is_closed() && requests_ > 0 && time().now() < give_up_at)
        co_await requests_ended_.wait_until(give_up_at);
    is_closing_ = true;
    listener_ = nullptr;
    locator_->stop();
    reconnect_.notify();
    reply_watch_.notify();
    look_up_ended_.notify();
    if (const auto running_look_up = look_up_.lock()) running_look_up->cancel();
    if (connection_) connection_->close();
    // Between two attempts, nothing else notifies the requests that wait for a connection.
    for (auto* waiter : ready_waiters_) {
        if (!waiter->failure) waiter->failure = std::make_exception_ptr(closed_error());
        waiter->wakeup.notify();
    }
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
