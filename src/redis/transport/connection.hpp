// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One connection: it sends commands, and receives replies and pushes. It never reconnects, and
// never sends anything twice. decisions/015 says why Pawl does not use Boost.Redis' connection.
#pragma once

#include "awaited_replies.hpp"
#include "connection_settings.hpp"
#include "message_reader.hpp"
#include "pending_request.hpp"

#include "../../core/util/close_on_fork.hpp"
#include "../../net/address.hpp"
#include "../../net/certificate_check.hpp"

#include <pawl/error.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Used on one strand. Call `fail_all` before the connection is destroyed: the destructor drops the
// requests that still wait, as `drop_all` does.
class connection final : public pending_request::queue {
public:
    // `tls_name` as in `endpoint`. The settings must outlive the connection. Throws
    // errc::bad_option when TLS is not possible with these settings.
    connection(const connection_settings& settings, std::string tls_name,
               boost::asio::any_io_executor strand);
    ~connection() override;
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Connects, and does the TLS handshake if the settings ask for TLS.
    boost::asio::awaitable<boost::system::error_code> open(net::address server_address);
    // True: `open` has succeeded, even if the connection has ended since.
    [[nodiscard]] bool was_opened() const noexcept { return was_opened_; }
    // True: the server has accepted the connection and sent nothing.
    [[nodiscard]] bool was_silent() const noexcept { return was_opened_ && !has_received_; }
    // The address that was given to `open`.
    [[nodiscard]] const net::address& server() const noexcept { return server_; }
    // True: the connection is made, and the TLS handshake has not succeeded.
    [[nodiscard]] bool is_in_tls_handshake() const noexcept { return is_in_tls_handshake_; }
    // The TLS problem that ended the connection, if there was one. `subject` names the server.
    [[nodiscard]] std::optional<error> explain_end(const boost::system::error_code& reason,
                                                   const std::string& subject) const;
    // The error with which the server has ended the connection, which no request has asked for, or
    // which came in place of the replies to the handshake; empty: none.
    [[nodiscard]] std::string last_words() const { return awaited_.last_words(); }
    // Reads until the connection ends: completes the waiting requests in order, and gives pushes to
    // `on_push`. Returns the reason of the end.
    boost::asio::awaitable<boost::system::error_code> read(
        std::function<void(const reply&)> on_push);
    // Ends `open` and `read`. If requests are unanswered, the kernel drops their unsent bytes:
    // otherwise a network that recovers after a minute would deliver them.
    void close() noexcept;
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
    // Ends the connection if the server has closed it. A loop with the setting
    // `reset_edge_on_partial_read`, such as that of the sync API, may not notice an end that came
    // together with data. So call this some time after each reply. `read` itself calls it for
    // pushes, and during the handshake.
    void check_end() noexcept;

    // Call this after the handshake of Redis: from then on, larger replies are allowed.
    void allow_large_replies() noexcept {
        received_.set_limits(session_limits);
        is_in_handshake_ = false;
    }

    // `text` is one or more commands with `replies` replies in total. `request` is null if the
    // caller does not wait for them. An idle connection sends at once; a busy one gathers the
    // requests of one turn of the event loop. `until_pong`: the text ends with a PING, and an error
    // may come before the reply to the PING.
    void send(pending_request* request, std::string_view text, unsigned replies = 1,
              bool until_pong = false);
    // Sends a (UN)SUBSCRIBE of one channel. The server confirms it by a push, which may also come
    // unasked. So a PING follows, and its reply ends the request.
    void send_subscription(pending_request* request, std::string text);

    // The requests that wait for a reply, without those whose callers have gone.
    [[nodiscard]] std::vector<pending_request*> waiting_requests() const {
        return awaited_.requests();
    }
    void fail_all(const std::string& reason);
    // Destroys the handlers of the waiting requests without calling them, as when the event loop is
    // destroyed.
    void drop_all() noexcept;

private:
    using socket = boost::asio::generic::stream_protocol::socket;
    struct tls_stream {
        tls_stream(const connection_settings& settings, const std::string& server_name,
                   socket& over);
        std::shared_ptr<net::certificate_problem> problem =
            std::make_shared<net::certificate_problem>();
        std::shared_ptr<boost::asio::ssl::context> context;
        boost::asio::ssl::stream<socket&> stream;
    };

    boost::system::error_code make_socket();
    boost::asio::awaitable<boost::system::error_code> connect();
    void close_socket() noexcept;
    void flush();
    void flush_later();
    // A write has failed. What the server said before is still to be read.
    void end_sending(boost::system::error_code reason) noexcept;
    void on_written(boost::system::error_code ec);
    boost::system::error_code parse(const std::function<void(const reply&)>& on_push,
                                    bool& has_push);
    void cancel(std::uint64_t number) override { awaited_.cancel(number); }
    void forget(std::uint64_t number) noexcept override { awaited_.forget(number); }
    const boost::asio::any_io_executor& executor() const noexcept override { return strand_; }
    [[nodiscard]] std::shared_ptr<connection> shared_self() {
        return std::static_pointer_cast<connection>(shared_from_this());
    }

    const connection_settings& settings_;
    const std::string tls_name_;
    const boost::asio::any_io_executor strand_;
    socket socket_;
    core::close_on_fork fork_guard_;
    std::unique_ptr<tls_stream> tls_;
    net::address server_;
    bool was_opened_ = false;
    bool has_received_ = false;
    bool is_in_tls_handshake_ = false;
    bool is_in_handshake_ = true;
    bool is_closed_ = false;
    bool peer_speaks_tls_ = false;  // a port without TLS in the settings replied with TLS

    awaited_replies awaited_;
    message_reader received_;

    std::string to_send_;
    std::string sending_;
    bool is_flushing_ = false;           // a write is under way, or will be at the end of this turn
    boost::system::error_code failure_;  // of a write, or the end that `check_end` has found
};

}  // namespace pawl::redis
