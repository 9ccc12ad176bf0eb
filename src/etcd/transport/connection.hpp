// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One connection to a member of etcd. It never reconnects, and never sends anything twice.
#pragma once

#include "http2_session.hpp"

#include "../../core/util/close_on_fork.hpp"
#include "../../net/address.hpp"
#include "../../net/certificate_check.hpp"
#include "../../net/endpoint.hpp"
#include "../../net/tls.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>

#include <memory>
#include <optional>
#include <string>

namespace pawl::etcd {

// How to connect. All connections of a client share the TLS contexts.
struct connection_settings {
    tls_options tls{};
    std::shared_ptr<net::tls_contexts> contexts = std::make_shared<net::tls_contexts>();
};

// Used on one strand. Call `end` before the connection is destroyed.
class connection final : public std::enable_shared_from_this<connection> {
public:
    // The settings must outlive the connection. Throws errc::bad_option when TLS is not possible
    // with these settings.
    connection(const connection_settings& settings, net::endpoint server,
               boost::asio::any_io_executor strand);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Connects, and does the TLS handshake if the settings ask for TLS.
    boost::asio::awaitable<boost::system::error_code> open(net::address server_address);
    // Reads until the connection ends, which `end` also does. Returns the reason.
    boost::asio::awaitable<boost::system::error_code> read();
    // The calls. After a change, `flush` sends it.
    [[nodiscard]] http2_session& session() noexcept { return session_; }
    void flush();

    // Ends `open`, `read` and all calls. The calls end with this text.
    void end(const std::string& reason);
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    // New calls can begin.
    [[nodiscard]] bool is_usable() const noexcept { return !is_over_ && !session_.is_draining(); }
    // How many times bytes of the server have come.
    [[nodiscard]] std::uint64_t arrivals() const noexcept { return arrivals_; }
    [[nodiscard]] const net::endpoint& server() const noexcept { return server_; }
    // Why `read` has ended.
    [[nodiscard]] const boost::system::error_code& ended_by() const noexcept { return ended_by_; }
    // The problem of TLS or of the protocol that ended the connection, if there was one.
    [[nodiscard]] std::optional<error> explain_end(const boost::system::error_code& reason,
                                                   const std::string& subject) const;

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

    boost::system::error_code make_socket(const net::address& server_address);
    void close_socket() noexcept;
    void write();
    void on_written(boost::system::error_code failure);

    const connection_settings& settings_;
    const net::endpoint server_;
    const boost::asio::any_io_executor strand_;
    socket socket_;
    core::close_on_fork fork_guard_;
    std::unique_ptr<tls_stream> tls_;
    http2_session session_;
    std::string sending_;
    bool is_open_ = false;
    bool is_writing_ = false;
    bool is_receiving_ = false;
    bool is_over_ = false;
    bool lacks_http2_ = false;  // the server's TLS does not offer it
    std::uint64_t arrivals_ = 0;
    boost::system::error_code ended_by_;
};

}  // namespace pawl::etcd
