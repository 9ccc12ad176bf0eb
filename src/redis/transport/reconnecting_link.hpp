// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connects to the server that its locator names, reconnects when the connection ends, and sends
// requests.
#pragma once

#include "connection.hpp"
#include "connection_settings.hpp"
#include "link.hpp"
#include "locator.hpp"
#include "subscriptions.hpp"

#include "../../core/util/fork_mark.hpp"
#include "../../core/util/wakeup.hpp"
#include "../../net/name_look_up.hpp"

#include <pawl/error.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/awaitable.hpp>

#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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
        return requests_ > 0 || !ready_waiters_.empty();
    }
    // May be called from any thread after `close`, which has forgotten the listener already.
    void forget_listener() noexcept override {
        if (!is_closing_) listener_ = nullptr;
    }

    // The locator knows another server: ends the present connection or attempt, and connects anew
    // at once. `reason` is part of the messages for the requests that get no reply.
    void reconnect(std::string reason);

    [[nodiscard]] const session& current() const noexcept override { return session_; }
    [[nodiscard]] bool connected() const noexcept override { return is_ready(); }
    [[nodiscard]] std::string connection_failure() const override;
    [[nodiscard]] std::string server_name() const override { return text_of(location_.server); }

private:
    runtime& time() const noexcept { return *context_.time; }
    void log(const std::string& line) const {
        if (context_.log) context_.log(subject_ + ": " + line);
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
    void forget_server() noexcept;
    void begin_look_up(const std::shared_ptr<reconnecting_link>& self);
    boost::asio::awaitable<void> run_look_up(std::shared_ptr<reconnecting_link> self,
                                             std::shared_ptr<net::name_look_up> started_look_up);
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
    [[nodiscard]] bool is_idle() const {
        return !connection_ || connection_->waiting_requests().empty();
    }
    void send_unsubscribe(const std::string& channel) noexcept;
    // Makes one connection and reads from it until its end.
    boost::asio::awaitable<boost::system::error_code> run_connection(
        std::shared_ptr<reconnecting_link> self);
    void on_connection_ended(const boost::system::error_code& reason);
    // As `on_connection_ended`, but composes no message and writes no log line, since memory may be
    // short.
    void fail_waiting_requests(const std::exception_ptr& reason);
    // The exception being handled, as a pawl::error if there is memory for one. Call it from a
    // catch block.
    [[nodiscard]] std::exception_ptr current_failure() const noexcept;
    // False in a fork: the connection belongs to the parent.
    [[nodiscard]] bool is_ready() const noexcept { return is_ready_ && !made_in_.is_forked(); }
    // True in a fork, and once `close` has waited for the sent requests: no connection is made, and
    // nothing is sent any more.
    [[nodiscard]] bool is_closed() const noexcept { return is_closing_ || made_in_.is_forked(); }
    [[nodiscard]] error closed_error() const {
        if (made_in_.is_forked()) return core::forked_client_error();
        return {errc::cancelled, "The client is closed; make a new one."};
    }
    // Whether a locator has found the server, so that the subject does not name it.
    [[nodiscard]] bool is_located() const {
        return !settings_.accepts_replica && !subject_.ends_with(server_name());
    }
    // The subject of messages about the server of the present attempt.
    [[nodiscard]] std::string server_subject() const {
        return is_located() ? subject_ + ": the master " + server_name() : subject_;
    }
    // Sets the reason of the end in `last_end_`, and in `attempt_end_` what no other attempt
    // changes.
    void explain_end(const boost::system::error_code& reason, bool was_ready);
    // `beginning`: "cannot be reached". `reason` may be empty.
    [[nodiscard]] error unreachable_error(const std::string& beginning,
                                          const std::string& reason) const;
    [[nodiscard]] std::string tls_hint() const;
    std::string describe_end(const boost::system::error_code& reason) const;
    std::string describe_network_end(const boost::system::error_code& reason) const;
    void on_push(const reply& message);
    // Counts a request that is about to be sent, and begins to watch for its reply. The reply watch
    // closes the connection when the reply is overdue.
    void watch_reply(pending_request& request, time_point give_up_at);

    // The destructor runs when `run` ends. If the event loop is destroyed, it destroys `run`, and
    // this guard drops the waiting requests.
    struct drop_guard {
        std::shared_ptr<reconnecting_link> owning_link;
        ~drop_guard() {
            owning_link->is_running_ = owning_link->is_ready_ = false;
            if (owning_link->connection_) owning_link->connection_->drop_all();
        }
    };
    // Allows the next request to start the reply watch again, however it ended.
    struct reply_watch_guard {
        reconnecting_link& owning_link;
        bool is_completed = false;
        ~reply_watch_guard() {
            owning_link.is_watching_replies_ = owning_link.is_reply_watch_parked_ = false;
            // Without a reply watch, nobody would notice an overdue reply.
            if (!is_completed && owning_link.connection_) owning_link.connection_->close();
        }
    };
    // Counts a sent request; `close` waits until none is left.
    class request_guard {
    public:
        explicit request_guard(reconnecting_link& owning_link) noexcept : link_(owning_link) {
            ++link_.requests_;
        }
        ~request_guard() {
            if (--link_.requests_ == 0) link_.requests_ended_.notify();
        }
        request_guard(const request_guard&) = delete;
        request_guard& operator=(const request_guard&) = delete;

    private:
        reconnecting_link& link_;
    };
    struct ready_waiter {
        explicit ready_waiter(const backend_context& context)
            : wakeup(*context.time, context.strand), since(context.time->now()) {}
        core::wakeup wakeup;
        time_point since;
        std::exception_ptr failure;
    };

    // Why a connection attempt or a connection ended. `failure` is null if `text` says it all.
    struct connection_end {
        std::exception_ptr failure;
        std::string text;
        bool has_advice = false;  // the text ends with an advice
        bool was_silent = false;  // the server accepted the connection and did not answer
    };

    struct known_server {
        net::address server_address;
        std::string run_id;
    };

    const core::fork_mark made_in_;
    const std::shared_ptr<locator> locator_;
    const connection_settings settings_;
    const std::string subject_;
    backend_context context_;
    link::listener* listener_;
    const std::string channel_;

    std::shared_ptr<connection> connection_;
    session session_;
    bool is_running_ = false;
    bool is_ready_ = false;
    bool is_closing_ = false;
    bool must_locate_again_ = false;  // `reconnect` was called during the attempt or connection
    location location_;               // of the present attempt or connection
    std::optional<duration> timed_out_after_;  // the limit at which Pawl closed the connection
    connection_end attempt_end_;  // of the present attempt or connection, if Pawl itself ended it
    connection_end last_end_;     // of the last attempt that failed, or of the last connection
    std::string logged_failure_;  // since the last connection; empty: none
    time_point failure_logged_at_{};
    time_point ready_since_{};
    time_point attempt_ends_at_{};
    std::optional<known_server> server_;  // of the last accepted connection
    net::addresses resolved_;             // the newest result of a look-up that was not tried yet
    net::addresses
        attempt_addresses_;  // the look-up's addresses in the present attempt; may be empty
    std::weak_ptr<net::name_look_up> look_up_;
    boost::system::error_code look_up_failure_;
    std::string spare_text_;  // the buffer of an earlier request, for the next one
    std::list<ready_waiter*> ready_waiters_;
    subscriptions subscriptions_;
    core::wakeup reconnect_;
    core::wakeup reply_watch_;
    std::shared_ptr<core::wakeup> handshake_ended_;  // of the present connection
    core::wakeup look_up_ended_;
    // `close` waits for this. Its timer is created early, so that closing needs no memory and no
    // new timer.
    core::wakeup requests_ended_;
    unsigned requests_ = 0;
    bool is_watching_replies_ = false;
    bool is_reply_watch_parked_ = false;  // the reply watch waits for the next request
};

[[nodiscard]] link_factory reconnecting_link_factory(const options& server_options,
                                                     const backend_context& context);

}  // namespace pawl::redis
