// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One connection to an HTTP server, with one request at a time. It never reconnects, and never
// sends anything twice.
#pragma once

#include "message.hpp"

#include "../core/util/close_on_fork.hpp"
#include "../core/util/spi.hpp"
#include "../net/address.hpp"
#include "../net/endpoint.hpp"
#include "../net/tls.hpp"

#include <pawl/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::http {

// How all connections of a client are made.
struct connection_settings {
    tls_options tls{};
    std::shared_ptr<net::tls_contexts> contexts{};
    std::string_view without_tls{}, with_tls{};  // the schemes of the URL, for messages
};

// Used on one strand, by shared_ptr. The coroutines may be cancelled; the connection is then over.
class connection : public std::enable_shared_from_this<connection> {
public:
    // The settings and `time` outlive the connection. Throws errc::bad_option when TLS is not
    // possible with these settings.
    connection(const connection_settings& settings, net::endpoint server,
               boost::asio::any_io_executor strand, runtime& time);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Connects, and does the TLS handshake if the settings ask for TLS. At `give_up_at`, ends with
    // `timed_out`.
    boost::asio::awaitable<boost::system::error_code> open(net::address server_address,
                                                           time_point give_up_at);
    // Sends the request and reads the response. After an error, the connection is over.
    boost::asio::awaitable<boost::system::error_code> exchange(const request& sent,
                                                               response& received,
                                                               time_point give_up_at);
    // True: another exchange may follow. The server has neither closed the connection nor sent
    // anything that nobody has asked for.
    [[nodiscard]] bool is_reusable() noexcept;
    // True: the exchange that failed has received a part of the response.
    [[nodiscard]] bool has_received() const noexcept { return has_received_; }
    // Ends `open` and `exchange`.
    void close() noexcept;
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
    // The TLS problem that ended the connection, if there was one. `subject` names the server.
    [[nodiscard]] std::optional<error> explain_end(const boost::system::error_code& reason,
                                                   const std::string& subject) const;

private:
    using socket = boost::asio::generic::stream_protocol::socket;
    struct tls_stream;
    class time_limit;

    boost::system::error_code make_socket(const net::address& server_address);
    boost::asio::awaitable<boost::system::error_code> connect(net::address server_address);
    template <class Stream>
    boost::asio::awaitable<boost::system::error_code> exchange_on(Stream& stream,
                                                                  const request& sent,
                                                                  response& received);
    void close_socket() noexcept;

    const connection_settings& settings_;
    const net::endpoint server_;
    const boost::asio::any_io_executor strand_;
    const std::unique_ptr<timer> timer_;
    std::uint64_t limit_number_ = 0;  // a limit that ends late must not end the next exchange
    socket socket_;
    core::close_on_fork fork_guard_;
    std::unique_ptr<tls_stream> tls_;
    bool is_closed_ = false;
    bool has_timed_out_ = false;
    bool keeps_alive_ = false;
    bool has_received_ = false;
};

// True: the server does not speak HTTP.
[[nodiscard]] bool speaks_another_protocol(const boost::system::error_code& reason) noexcept;

}  // namespace pawl::http
