// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connection.hpp"

#include "../../core/util/flag_guard.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;

namespace pawl::etcd {
namespace {

constexpr std::size_t read_size = 16384;
constexpr std::array<unsigned char, 3> http2_protocol{2, 'h', '2'};

bool has_chosen_http2(const SSL* stream) noexcept {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(stream, &name, &size);
    return size == 2 && name[0] == 'h' && name[1] == '2';
}

}  // namespace

connection::connection(const connection_settings& settings, net::endpoint server,
                       asio::any_io_executor strand)
    : settings_(settings),
      server_(std::move(server)),
      strand_(std::move(strand)),
      socket_(strand_),
      session_(net::text_of(server_), settings.tls.enabled) {
    if (settings_.tls.enabled)
        tls_ = std::make_unique<tls_stream>(settings_, server_.tls_name, socket_);
}

connection::tls_stream::tls_stream(const connection_settings& settings,
                                   const std::string& server_name, socket& over)
    : context(settings.contexts->make()), stream(over, *context) {
    if (settings.tls.verify)
        stream.set_verify_callback(net::certificate_check(server_name, problem));
    net::set_tls_host(stream.native_handle(), server_name);
    SSL_set_alpn_protos(stream.native_handle(), http2_protocol.data(), http2_protocol.size());
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

asio::awaitable<error_code> connection::open(net::address server_address) {
    const auto self = shared_from_this();
    if (is_over_) co_return asio::error::operation_aborted;
    auto ec = make_socket(server_address);
    if (ec) co_return ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    co_await socket_.async_connect(server_address, token);
    if (!ec && is_over_) ec = asio::error::operation_aborted;
    if (ec) co_return ec;
    // A small request must not wait for the acknowledgement of the one before.
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
    if (tls_) {
        co_await tls_->stream.async_handshake(asio::ssl::stream_base::client, token);
        if (!ec && is_over_) ec = asio::error::operation_aborted;
        lacks_http2_ = !ec && !has_chosen_http2(tls_->stream.native_handle());
        if (lacks_http2_) ec = asio::error::no_protocol_option;
    }
    is_open_ = !ec;
    if (is_open_) flush();
    co_return ec;
}

asio::awaitable<error_code> connection::read() {
    const auto self = shared_from_this();
    std::array<char, read_size> buffer;
    error_code ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    while (!is_over_) {
        std::size_t size = 0;
        if (tls_)
            size = co_await tls_->stream.async_read_some(asio::buffer(buffer), token);
        else
            size = co_await socket_.async_read_some(asio::buffer(buffer), token);
        if (ec || is_over_) break;
        ++arrivals_;
        bool is_valid = false;
        {
            const core::flag_guard receiving(is_receiving_);
            is_valid = session_.receive({buffer.data(), size});
        }
        flush();
        if (is_valid && !session_.is_over()) continue;
        ec = asio::error::no_protocol_option;
        break;
    }
    ended_by_ = ec ? ec : asio::error::operation_aborted;
    co_return ended_by_;
}

// Within `receive`, it is `read` that flushes: nghttp2 must not be asked for its output then.
void connection::flush() {
    if (!is_open_ || is_over_ || is_writing_ || is_receiving_) return;
    session_.take_output(sending_);
    if (sending_.empty()) return;
    if (!tls_) {
        error_code ec;  // the write below reports the same error
        const auto sent = socket_.write_some(asio::buffer(sending_), ec);
        sending_.erase(0, sent);
        if (sending_.empty()) return;
    }
    write();
}

void connection::write() {
    is_writing_ = true;
    auto on_completion = asio::bind_executor(
        strand_, [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); });
    if (tls_)
        asio::async_write(tls_->stream, asio::buffer(sending_), std::move(on_completion));
    else
        asio::async_write(socket_, asio::buffer(sending_), std::move(on_completion));
}

// What the server said before the end is still to be read: the shutdown lets `read` find the end.
void connection::on_written(error_code failure) {
    is_writing_ = false;
    sending_.clear();
    if (is_over_) return;
    if (failure)
        ::shutdown(socket_.native_handle(), SHUT_RD);
    else
        flush();
}

void connection::end(const std::string& reason) {
    if (std::exchange(is_over_, true)) return;
    close_socket();
    session_.end_all({call_status::unavailable, reason});
}

void connection::close_socket() noexcept {
    const core::close_on_fork::no_fork fork_lock;
    fork_guard_.forget(fork_lock);
    error_code ignored;
    socket_.close(ignored);
}

std::optional<error> connection::explain_end(const error_code& reason,
                                             const std::string& subject) const {
    const bool was_cut = reason == asio::error::eof || reason == asio::error::connection_reset ||
                         reason == asio::ssl::error::stream_truncated;
    if (was_cut && !session_.is_greeted())
        return error(errc::unreachable,
                     subject + " closed the connection without an answer; check host and port (" +
                         (tls_ ? "a port without TLS wants etcd in place of etcds"
                               : "a port with TLS wants etcds in place of etcd") +
                         ").");
    if (session_.failure() == "this port speaks TLS")
        return error(errc::protocol, subject +
                                         ": this port speaks TLS; write etcds in place of "
                                         "etcd in the URL.");
    if (!session_.failure().empty() && !session_.is_greeted())
        return error(errc::protocol,
                     subject + " is not etcd's port for clients: " + session_.failure() +
                         "; check host and port, and whether it needs TLS (etcds).");
    if (lacks_http2_)
        return error(errc::protocol, subject +
                                         " does not speak HTTP/2 over TLS, so it is not "
                                         "etcd; check host and port.");
    if (!tls_) return std::nullopt;
    const net::ended_tls ended{settings_.tls,    settings_.contexts->option_prefix(),
                               server_.tls_name, *tls_->problem,
                               "etcd",           "etcds"};
    return net::explain_tls(reason, ended, subject);
}

}  // namespace pawl::etcd
