// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connection.hpp"

#include "jute.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;

namespace pawl::zookeeper {
namespace {

constexpr std::size_t length_size = 4;

}  // namespace

connection::connection(std::shared_ptr<const tls_settings> settings, std::string tls_name,
                       asio::any_io_executor strand)
    : settings_(std::move(settings)),
      tls_name_(std::move(tls_name)),
      strand_(std::move(strand)),
      socket_(strand_) {
    if (settings_->tls.enabled) tls_ = std::make_unique<tls_stream>(*settings_, tls_name_, socket_);
}

connection::tls_stream::tls_stream(const tls_settings& settings, const std::string& server_name,
                                   socket& over)
    : context(settings.contexts->make()), stream(over, *context) {
    if (settings.tls.verify)
        stream.set_verify_callback(net::certificate_check(server_name, problem));
    net::set_tls_host(stream.native_handle(), server_name);
}

connection::~connection() { close_socket(); }

// The socket is closed in forked children and in started programs from its creation on.
error_code connection::make_socket(const net::address& server) {
    const auto protocol = server.protocol();
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
    if (is_closed_) co_return asio::error::operation_aborted;
    auto ec = make_socket(server_address);
    if (ec) co_return ec;
    auto connected = asio::redirect_error(asio::deferred, ec);
    co_await socket_.async_connect(server_address, connected);
    if (!ec && is_closed_) ec = asio::error::operation_aborted;
    if (ec) co_return ec;
    // A small request must not wait for the acknowledgement of the one before.
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
    if (tls_) {
        auto shaken = asio::redirect_error(asio::deferred, ec);
        co_await tls_->stream.async_handshake(asio::ssl::stream_base::client, shaken);
    }
    was_opened_ = !ec;
    co_return ec;
}

bool connection::has_frame(std::size_t& size) const {
    if (received_.size() < length_size) return false;
    size = jute_reader(received_).number<std::uint32_t>();
    return received_.size() - length_size >= size;
}

// A port of HTTP, or one with TLS, answers in its own way; its first bytes are no length.
void connection::recognise_other_protocol() {
    if (received_.starts_with("HTTP"))
        other_protocol_ = "HTTP";
    else if (received_.starts_with("\x15\x03"))
        other_protocol_ = "TLS";
    else
        other_protocol_ = "another protocol";
}

asio::awaitable<error_code> connection::read_some() {
    error_code ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    std::array<char, 4096> room{};
    const auto free = asio::buffer(room);
    std::size_t count = 0;
    if (tls_)
        count = co_await tls_->stream.async_read_some(free, token);
    else
        count = co_await socket_.async_read_some(free, token);
    if (!ec && is_closed_) ec = asio::error::operation_aborted;
    if (ec) co_return ec;
    has_received_ = true;
    received_.append(room.data(), count);
    co_return ec;
}

asio::awaitable<std::string> connection::read_frame(error_code& ec) {
    for (;;) {
        std::size_t size = 0;
        if (has_frame(size)) {
            auto frame = received_.substr(length_size, size);
            received_.erase(0, length_size + size);
            co_return frame;
        }
        if (size > largest_frame || received_.starts_with("\x15\x03")) {
            recognise_other_protocol();
            ec = asio::error::no_protocol_option;
            co_return std::string();
        }
        ec = co_await read_some();
        if (ec) co_return std::string();
    }
}

asio::awaitable<std::string> connection::read_text() {
    static constexpr std::size_t longest_text = 65536;
    while (received_.size() < longest_text) {
        const auto ec = co_await read_some();
        if (ec) break;
        check_end();
        if (is_closed_) break;
    }
    co_return std::exchange(received_, {});
}

void connection::check_end() noexcept {
    char byte = 0;
    const auto received =
        ::recv(socket_.native_handle(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    if (received > 0 || (received < 0 && (errno == EAGAIN || errno == EINTR))) return;
    // The TLS stream may have data that it has not decrypted yet.
    if (tls_)
        ::shutdown(socket_.native_handle(), SHUT_RD);
    else
        close();
}

void connection::send(std::string_view frames) {
    if (is_closed_) return;
    to_send_ += frames;
    if (std::exchange(is_flushing_, true)) return;
    try {
        asio::post(strand_, [self = shared_from_this()] { self->flush(); });
    } catch (...) {
        close();
        throw;
    }
}

void connection::flush() {
    is_flushing_ = false;
    if (to_send_.empty() || is_closed_) return;
    sending_.swap(to_send_);
    to_send_.clear();
    is_flushing_ = true;
    try {
        auto on_completion = asio::bind_executor(
            strand_,
            [self = shared_from_this()](error_code ec, std::size_t) { self->on_written(ec); });
        if (tls_)
            asio::async_write(tls_->stream, asio::buffer(sending_), std::move(on_completion));
        else
            asio::async_write(socket_, asio::buffer(sending_), std::move(on_completion));
    } catch (...) {
        close();  // fails the requests whose text nothing would send
    }
}

// After a failed write, the reader finds the end behind what the server has said before.
void connection::on_written(error_code ec) {
    sending_.clear();
    if (ec) {
        if (!is_closed_) ::shutdown(socket_.native_handle(), SHUT_RD);
        return;
    }
    flush();
}

void connection::close() noexcept {
    if (std::exchange(is_closed_, true)) return;
    error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
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
    if (other_protocol_ == "TLS" && !tls_)
        return error(errc::protocol, subject +
                                         ": this port speaks TLS; write zookeepers:// in place of "
                                         "zookeeper:// in the URL.");
    if (!other_protocol_.empty())
        return error(errc::protocol,
                     subject + " does not speak the protocol of ZooKeeper, but " + other_protocol_ +
                         "; check the port, which is clientPort of the server (usually 2181), not "
                         "that of its admin server.");
    if (!tls_) return std::nullopt;
    const net::ended_tls ended{settings_->tls, settings_->contexts->option_prefix(),
                               tls_name_,      *tls_->problem,
                               "zookeeper",    "zookeepers"};
    return net::explain_tls(reason, ended, subject);
}

}  // namespace pawl::zookeeper
