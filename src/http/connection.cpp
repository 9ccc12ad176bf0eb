// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connection.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

namespace pawl::http {
namespace {

constexpr std::uint32_t max_header_size = 16 * 1024;

beast::http::request<beast::http::string_body> to_message(const request& sent,
                                                          const std::string& host) {
    beast::http::request<beast::http::string_body> message;
    message.version(11);
    message.method_string(sent.method);
    message.target(sent.target);
    message.set(beast::http::field::host, host);
    for (const auto& [name, value] : sent.headers)
        message.set(name, value);
    message.body() = sent.body;
    message.prepare_payload();
    return message;
}

void read_message(beast::http::response<beast::http::string_body> message, response& target) {
    target.status = message.result_int();
    target.headers.clear();
    for (const auto& each : message)
        target.headers.emplace_back(each.name_string(), each.value());
    target.body = std::move(message.body());
}

}  // namespace

struct connection::tls_stream {
    tls_stream(const connection_settings& settings, const std::string& server_name, socket& over)
        : context(settings.contexts->make()), stream(over, *context) {
        if (settings.tls.verify)
            stream.set_verify_callback(net::certificate_check(server_name, problem));
        net::set_tls_host(stream.native_handle(), server_name);
    }

    std::shared_ptr<net::certificate_problem> problem =
        std::make_shared<net::certificate_problem>();
    std::shared_ptr<asio::ssl::context> context;
    asio::ssl::stream<socket&> stream;
};

// Closes the connection at its time, unless it is destroyed before.
class connection::time_limit {
public:
    time_limit(connection& limited, time_point when) : limited_(limited) {
        const auto close = [weak = limited.weak_from_this(),
                            number = ++limited.limit_number_](const error_code& ec) {
            const auto self = weak.lock();
            if (ec || !self || self->limit_number_ != number) return;
            self->has_timed_out_ = true;
            self->close();
        };
        limited.timer_->async_wait_until(when, asio::bind_executor(limited.strand_, close));
    }
    ~time_limit() {
        ++limited_.limit_number_;
        limited_.timer_->cancel();
    }
    time_limit(const time_limit&) = delete;
    time_limit& operator=(const time_limit&) = delete;

private:
    connection& limited_;
};

connection::connection(const connection_settings& settings, net::endpoint server,
                       asio::any_io_executor strand, runtime& time)
    : settings_(settings),
      server_(std::move(server)),
      strand_(std::move(strand)),
      timer_(time.make_timer(strand_)),
      socket_(strand_) {
    if (settings_.tls.enabled)
        tls_ = std::make_unique<tls_stream>(settings_, server_.tls_name, socket_);
}

connection::~connection() { close_socket(); }

// The socket is closed in forked children and in started programs from its creation on.
error_code connection::make_socket(const net::address& server_address) {
    const auto protocol = server_address.protocol();
    const core::close_on_fork::no_fork fork_lock;
    const int descriptor =
        ::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
    if (descriptor < 0) return {errno, boost::system::system_category()};
    error_code ec;
    socket_.assign(protocol, descriptor, ec);
    if (ec)
        ::close(descriptor);
    else
        fork_guard_.add(descriptor, fork_lock);
    return ec;
}

asio::awaitable<error_code> connection::connect(net::address server_address) {
    auto ec = make_socket(server_address);
    if (ec) co_return ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    co_await socket_.async_connect(server_address, token);
    if (ec || is_closed_) co_return ec ? ec : asio::error::operation_aborted;
    // A small request must not wait for the acknowledgement of the one before.
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    if (tls_) co_await tls_->stream.async_handshake(asio::ssl::stream_base::client, token);
    co_return ec;
}

asio::awaitable<error_code> connection::open(net::address server_address, time_point give_up_at) {
    const auto self = shared_from_this();
    const time_limit limit(*this, give_up_at);
    auto ec = co_await connect(server_address);
    if (ec) close();
    co_return has_timed_out_ ? error_code(asio::error::timed_out) : ec;
}

template <class Stream>
asio::awaitable<error_code> connection::exchange_on(Stream& stream, const request& sent,
                                                    response& received) {
    error_code ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    const auto message = to_message(sent, net::text_of(server_));
    co_await beast::http::async_write(stream, message, token);
    if (ec) co_return ec;
    beast::flat_buffer buffer;
    beast::http::response_parser<beast::http::string_body> parser;
    parser.header_limit(max_header_size);
    parser.body_limit(sent.body_limit);
    co_await beast::http::async_read(stream, buffer, parser, token);
    has_received_ = has_received_ || parser.got_some();
    if (ec) co_return ec;
    keeps_alive_ = parser.keep_alive() && buffer.size() == 0;
    read_message(parser.release(), received);
    co_return ec;
}

asio::awaitable<error_code> connection::exchange(const request& sent, response& received,
                                                 time_point give_up_at) {
    const auto self = shared_from_this();
    keeps_alive_ = has_received_ = false;
    error_code ec;
    {
        const time_limit limit(*this, give_up_at);
        if (tls_)
            ec = co_await exchange_on(tls_->stream, sent, received);
        else
            ec = co_await exchange_on(socket_, sent, received);
    }
    if (ec || !keeps_alive_) close();
    co_return ec&& has_timed_out_ ? error_code(asio::error::timed_out) : ec;
}

bool connection::is_reusable() noexcept {
    if (is_closed_ || !keeps_alive_) return false;
    char byte = 0;
    const auto received =
        ::recv(socket_.native_handle(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    return received < 0 && (errno == EAGAIN || errno == EINTR);
}

void connection::close() noexcept {
    is_closed_ = true;
    close_socket();
}

void connection::close_socket() noexcept {
    const core::close_on_fork::no_fork fork_lock;
    fork_guard_.forget(fork_lock);
    error_code ignored;
    socket_.close(ignored);
}

std::optional<error> connection::explain_end(const error_code& reason,
                                             const std::string& subject) const {
    if (!tls_) return std::nullopt;
    const net::ended_tls ended{settings_.tls,         settings_.contexts->option_prefix(),
                               server_.tls_name,      *tls_->problem,
                               settings_.without_tls, settings_.with_tls};
    return net::explain_tls(reason, ended, subject);
}

bool speaks_another_protocol(const error_code& reason) noexcept {
    static const auto& category = make_error_code(beast::http::error::end_of_stream).category();
    return reason.category() == category && reason != beast::http::error::end_of_stream &&
           reason != beast::http::error::partial_message;
}

}  // namespace pawl::http
