// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One connection to a server: it sends and receives frames, and never reconnects.
#pragma once

#include "../core/util/close_on_fork.hpp"
#include "../core/util/spi.hpp"
#include "../net/address.hpp"
#include "../net/certificate_check.hpp"
#include "../net/tls.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::zookeeper {

// The largest message that Pawl accepts: the children of a busy lock are far below this.
inline constexpr std::size_t largest_frame = 16 << 20;

// What a connection does with TLS; the settings outlive the connection.
struct tls_settings {
    tls_options tls{};
    std::shared_ptr<net::tls_contexts> contexts;
};

// Used on one strand.
class connection final : public std::enable_shared_from_this<connection> {
public:
    // Throws errc::bad_option when TLS is not possible with these settings.
    connection(std::shared_ptr<const tls_settings> settings, std::string tls_name,
               boost::asio::any_io_executor strand);
    ~connection();
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // Connects, and does the TLS handshake if the settings ask for TLS. `close` ends it.
    boost::asio::awaitable<boost::system::error_code> open(net::address server_address);
    // Reads one frame, without its length. Empty and `ec` set: the connection has ended.
    boost::asio::awaitable<std::string> read_frame(boost::system::error_code& ec);
    // Reads all that the server sends until it closes the connection, up to a limit: the answer to
    // a command of four letters.
    boost::asio::awaitable<std::string> read_text();
    // Sends the bytes together with all others of this turn of the event loop.
    void send(std::string_view frames);
    // Ends `open` and `read_frame`. The kernel drops unsent bytes: a network that recovers later
    // must not deliver them.
    void close() noexcept;
    [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

    // True: the server has accepted the connection (and the TLS handshake has succeeded).
    [[nodiscard]] bool was_opened() const noexcept { return was_opened_; }
    [[nodiscard]] bool has_received() const noexcept { return has_received_; }
    // The first bytes were those of another protocol. Empty, or what it is.
    [[nodiscard]] const std::string& other_protocol() const noexcept { return other_protocol_; }
    // The TLS problem that ended the connection, if there was one. `subject` names the server.
    [[nodiscard]] std::optional<error> explain_end(const boost::system::error_code& reason,
                                                   const std::string& subject) const;

private:
    using socket = boost::asio::generic::stream_protocol::socket;
    struct tls_stream {
        tls_stream(const tls_settings& settings, const std::string& server_name, socket& over);
        std::shared_ptr<net::certificate_problem> problem =
            std::make_shared<net::certificate_problem>();
        std::shared_ptr<boost::asio::ssl::context> context;
        boost::asio::ssl::stream<socket&> stream;
    };

    boost::system::error_code make_socket(const net::address& server);
    void close_socket() noexcept;
    void flush();
    void on_written(boost::system::error_code ec);
    boost::asio::awaitable<boost::system::error_code> read_some();
    // A loop with the setting `reset_edge_on_partial_read`, such as that of the sync API, may not
    // notice an end that came together with data: the next read then finds it at once.
    void check_end() noexcept;
    [[nodiscard]] bool has_frame(std::size_t& size) const;
    void recognise_other_protocol();

    const std::shared_ptr<const tls_settings> settings_;
    const std::string tls_name_;
    const boost::asio::any_io_executor strand_;
    socket socket_;
    core::close_on_fork fork_guard_;
    std::unique_ptr<tls_stream> tls_;
    std::string received_;
    std::string to_send_, sending_;
    std::string other_protocol_;
    bool is_flushing_ = false;
    bool was_opened_ = false;
    bool has_received_ = false;
    bool is_closed_ = false;
};

}  // namespace pawl::zookeeper
