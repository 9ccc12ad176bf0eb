// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connects to the server that its locator names, reconnects when the connection ends, and sends
// requests.
#pragma once

#include "connection_attempt.hpp"
#include "connection_settings.hpp"
#include "core/util/spi.hpp"
#include "failure_log.hpp"
#include "host_look_up.hpp"
#include "link.hpp"
#include "link_state.hpp"
#include "locator.hpp"
#include "server_addresses.hpp"
#include "subscriptions.hpp"
#include "waiting_requests.hpp"

#include "../../core/util/fork_mark.hpp"
#include "../../core/util/in_flight.hpp"
#include "../../core/util/wakeup.hpp"

#include <pawl/error.hpp>

#include <boost/asio/awaitable.hpp>

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Used on one strand, except for `forget_listener`. Sends nothing twice, and uses a connection only
// after the handshake.
class reconnecting_link final : public link,
                                public std::enable_shared_from_this<reconnecting_link> {
public:
    // `subject` names the service in messages.
    reconnecting_link(std::shared_ptr<locator> server_locator, connection_settings settings,
                      std::string subject, const backend_context& context, link::listener& receiver,
                      std::string channel);

    boost::asio::awaitable<reply> exec(std::span<const std::string_view> words,
                                       time_point give_up_at, prelude before) override;
    boost::asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override;
    void unsubscribe(const std::string& channel) noexcept override;
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    [[nodiscard]] bool is_in_use() const noexcept override {
        return !in_flight_.empty() || !waiters_.empty();
    }
    // May be called from any thread after `close`: then the listener is forgotten already, and this
    // writes nothing.
    void forget_listener() noexcept override {
        if (listener_ != nullptr) listener_ = nullptr;
    }

    // The locator knows another server: ends the present connection or attempt, and connects anew
    // at once. `reason` is part of the messages for the requests that get no reply.
    void reconnect(std::string reason);

    [[nodiscard]] const session& current() const noexcept override { return session_; }
    [[nodiscard]] bool connected() const noexcept override { return is_ready(); }
    [[nodiscard]] std::string connection_failure() const override;
    [[nodiscard]] std::string server_name() const override { return target_.server_name(); }

private:
    runtime& time() const noexcept { return *context_.time; }
    void log(const std::string& line) const {
        if (context_.log) context_.log(target_.subject + ": " + line);
    }

    // Logs why an attempt or a connection failed, unless the same line was logged lately.
    void log_failure(const std::string& reason);

    void start();
    // In these coroutines `self` keeps the link alive.
    boost::asio::awaitable<void> run(std::shared_ptr<reconnecting_link> self);
    // Why a server with this role must not be used; empty if it may be.
    boost::asio::awaitable<std::string> find_objection(server_role role);
    boost::asio::awaitable<void> shake_hands(std::shared_ptr<reconnecting_link> self,
                                             std::shared_ptr<connection> attempt_connection);
    // The handshake has succeeded, and the server has confirmed `channels`.
    void become_ready(const login& used, const std::vector<std::string>& channels);
    // User and password for this connection.
    boost::asio::awaitable<login> fetch_login(std::shared_ptr<connection> attempt_connection);
    // Throws connection_lost also when the login is refused, and the next attempt has another one.
    boost::asio::awaitable<session> open_session(std::shared_ptr<connection> attempt_connection,
                                                 const login& used);
    boost::asio::awaitable<void> limit_handshake(std::shared_ptr<reconnecting_link> self,
                                                 std::shared_ptr<connection> attempt_connection,
                                                 std::shared_ptr<core::wakeup> handshake_ended,
                                                 time_point until);
    // Asks the locator. A failure of the locator is like that of a look-up.
    boost::asio::awaitable<boost::system::error_code> locate(time_point give_up_at);
    void on_resolved(net::addresses resolved);
    boost::asio::awaitable<boost::system::error_code> find_addresses(
        std::shared_ptr<reconnecting_link> self, time_point give_up_at, net::addresses& result);
    boost::asio::awaitable<boost::system::error_code> try_addresses(
        std::shared_ptr<reconnecting_link> self, const net::addresses& candidates,
        time_point give_up_at);
    // Accepts the connection's server, or throws several_servers_error if another server at the
    // same name may grant the same locks.
    boost::asio::awaitable<void> check_server(std::shared_ptr<connection> attempt_connection,
                                              const login& used, const session& new_session);
    // The reply watch runs while requests wait, and looks at them every 100 ms. It closes the
    // connection when a reply is overdue, and fails a request whose `give_up_at` has passed.
    boost::asio::awaitable<void> watch_replies(std::shared_ptr<reconnecting_link> self);
    boost::asio::awaitable<void> check_replies();
    boost::asio::awaitable<void> wait_ready(time_point give_up_at);
    void send_unsubscribe(const std::string& channel) noexcept;
    // Makes one connection and reads from it until its end.
    boost::asio::awaitable<boost::system::error_code> run_connection(
        std::shared_ptr<reconnecting_link> self);
    void on_connection_ended(const boost::system::error_code& reason);
    // As `on_connection_ended`, but composes no message and writes no log line, since memory may be
    // short.
    void fail_waiting_requests(const std::exception_ptr& reason);
    // False in a fork: the connection belongs to the parent.
    [[nodiscard]] bool is_ready() const noexcept {
        return state_.is_ready() && !made_in_.is_forked();
    }
    // True in a fork, and once `close` has waited for the sent requests: no connection is made, and
    // nothing is sent any more.
    [[nodiscard]] bool is_closed() const noexcept {
        return state_.is_closed() || made_in_.is_forked();
    }
    [[nodiscard]] error closed_error() const {
        if (made_in_.is_forked()) return core::forked_client_error();
        return {errc::cancelled, "The client is closed; make a new one."};
    }
    // `beginning`: "cannot be reached". `reason` may be empty.
    [[nodiscard]] error unreachable_error(const std::string& beginning,
                                          const std::string& reason) const;
    void on_push(const reply& message);
    // Counts a request that is about to be sent, and begins to watch for its reply. The reply watch
    // closes the connection when the reply is overdue.
    void watch_reply(pending_request& request, time_point give_up_at);

    // The destructor runs when `run` ends. If the event loop is destroyed, it destroys `run`, and
    // this guard drops the waiting requests.
    struct drop_guard {
        std::shared_ptr<reconnecting_link> owning_link;
        ~drop_guard() {
            owning_link->state_.stop();
            if (owning_link->attempt_.connection) owning_link->attempt_.connection->drop_all();
        }
    };
    // Allows the next request to start the reply watch again, however it ended.
    struct reply_watch_guard {
        reconnecting_link& owning_link;
        bool is_completed = false;
        ~reply_watch_guard() {
            owning_link.reply_watch_.end();
            // Without a reply watch, nobody would notice an overdue reply.
            if (!is_completed) owning_link.attempt_.close();
        }
    };

    const core::fork_mark made_in_;
    const std::shared_ptr<locator> locator_;
    const connection_settings settings_;
    backend_context context_;
    link::listener* listener_;
    const std::string channel_;

    link_state state_;
    link_target target_;
    connection_attempt attempt_;  // the present one, with its connection
    session session_;
    connection_end last_end_;  // of the last attempt that failed, or of the last connection
    failure_log failures_;
    server_addresses addresses_;
    host_look_up look_up_;
    subscriptions subscriptions_;
    core::wakeup reconnect_;  // ends the pause between two attempts
    connection_waiters waiters_;
    reply_watch reply_watch_;
    core::in_flight in_flight_;  // `close` waits until there is none
    spare_text spare_text_;
};

[[nodiscard]] link_factory reconnecting_link_factory(const options& server_options,
                                                     const backend_context& context);

}  // namespace pawl::redis
