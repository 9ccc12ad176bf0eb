// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A session at an ensemble: one connection at a time, resumed at another server after its end.
// A session that was lost is never replaced: its ephemeral nodes are gone with it.
#pragma once

#include "outstanding_requests.hpp"
#include "settings.hpp"
#include "watch_table.hpp"

#include "../core/util/back_off.hpp"
#include "../core/util/fork_mark.hpp"
#include "../core/util/wakeup.hpp"

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace pawl::zookeeper {

// No answer came: the server may have carried out the request, or may do so later.
class no_answer : public error {
public:
    explicit no_answer(const std::string& sentence) : error(errc::unreachable, sentence) {}
};

// Used on the strand.
class session : public std::enable_shared_from_this<session> {
public:
    struct handlers {
        std::function<void(session&)> on_end;   // once, unless `close` came first
        std::function<void(session&)> on_tick;  // a few times in each tick, while connected
    };

    session(std::shared_ptr<const client_settings> settings, const backend_context& context,
            duration timeout, handlers user_handlers);
    // Connects, and keeps the session until its end or `close`. Started once, beside all callers.
    static boost::asio::awaitable<void> run(std::shared_ptr<session> self);

    // Waits for a connection. Throws errc::unreachable at the limit and after the session's end,
    // and the reason of a server that refuses the client.
    boost::asio::awaitable<void> ready(time_point give_up_at);
    // Requests of one turn of the event loop are sent together, and carried out in this order.
    // Throws `no_answer` without a connection: nothing was sent.
    // `is_counted`: false for one that goes and comes together with the request before it.
    pending_ptr send(const request& content, bool is_counted = true);
    // Throws `no_answer`. A reply with an error is returned.
    boost::asio::awaitable<reply> wait(pending_ptr sent, time_point give_up_at);
    // Sends a request that may be carried out twice, and repeats it over a new connection.
    // `give_up_at` limits all of it. Throws as `ready` and `wait`.
    boost::asio::awaitable<reply> ask(request repeated, time_point give_up_at);
    [[nodiscard]] watch_table& watches() noexcept { return watches_; }

    // Until then, the leader cannot have ended the session.
    [[nodiscard]] time_point believed_until() const noexcept;
    [[nodiscard]] duration timeout() const noexcept { return timeout_; }
    [[nodiscard]] std::int64_t id() const noexcept { return id_; }
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    [[nodiscard]] bool is_connected() const noexcept { return is_ready_; }
    [[nodiscard]] time_point used_at() const noexcept { return used_at_; }
    // Why there is no connection; empty while there is one, and before the first attempt.
    [[nodiscard]] const std::optional<error>& failure() const noexcept { return failure_; }
    // The server of the present or next connection.
    [[nodiscard]] const net::endpoint& server() const noexcept {
        return settings_->servers[server_];
    }
    // Ends the session at the server, too, if there is a connection; `run` then ends soon. No
    // handler is called.
    void close() noexcept;

private:
    static boost::asio::awaitable<void> keep_alive(std::weak_ptr<session> weak,
                                                   std::shared_ptr<connection> kept,
                                                   std::shared_ptr<core::wakeup> ended,
                                                   runtime& time, time_point opened_by);
    boost::asio::awaitable<bool> connect();
    boost::asio::awaitable<void> connect_to(net::endpoint target);
    boost::asio::awaitable<void> shake_hands(std::string subject, time_point limit);
    boost::asio::awaitable<void> log_in(std::string subject, time_point limit);
    boost::asio::awaitable<void> read();
    void set_watches();
    // Sends what keeps the session alive, and closes a connection whose server is silent.
    void tick();
    void write(const pending_ptr& sent, const request& content);
    void disconnect() noexcept;
    void end();
    void notify_waiters();

    const std::shared_ptr<const client_settings> settings_;
    const backend_context context_;
    duration timeout_;
    handlers handlers_;
    const core::fork_mark made_in_;
    core::back_off pauses_;
    core::wakeup pause_;
    std::size_t server_ = 0;
    std::shared_ptr<connection> connection_;
    std::shared_ptr<core::wakeup> keeper_;
    std::int64_t id_ = 0;
    std::string password_;
    outstanding_requests requests_;
    watch_table watches_;
    time_point sync_at_{};
    time_point used_at_{};
    std::list<core::wakeup*> waiters_;
    std::optional<error> failure_;
    bool is_ready_ = false;
    bool is_over_ = false;
};

}  // namespace pawl::zookeeper
