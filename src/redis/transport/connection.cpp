// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connection.hpp"

#include "../../net/tls.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/redis/error.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace asio = boost::asio;
namespace bredis = boost::redis;
using boost::system::error_code;

namespace pawl::redis {
namespace {

void clear_sent(std::string& buffer) noexcept {
    buffer.clear();
    // Not an assignment: that of an empty string keeps the buffer.
    if (buffer.capacity() > max_idle_buffer) std::string().swap(buffer);
}

// The reply of a TLS port to a client without TLS: a record of type 21.
bool is_tls_alert(std::string_view received) noexcept { return received.starts_with("\x15\x03"); }

}  // namespace

connection::connection(const connection_settings& settings, std::string tls_name,
                       asio::any_io_executor strand)
    : settings_(settings),
      tls_name_(std::move(tls_name)),
      strand_(std::move(strand)),
      socket_(strand_) {
    if (settings_.tls.enabled) tls_ = std::make_unique<tls_stream>(settings_, tls_name_, socket_);
}

connection::tls_stream::tls_stream(const connection_settings& settings,
                                   const std::string& server_name, socket& over)
    : context(settings.contexts->make()), stream(over, *context) {
    if (settings.tls.verify)
        stream.set_verify_callback(net::certificate_check(server_name, problem));
    net::set_tls_host(stream.native_handle(), server_name);
}

connection::~connection() {
    drop_all();
    close_socket();
}

// The socket is closed in forked children and in started programs from its creation on.
error_code connection::make_socket() {
    const auto protocol = server_.protocol();
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

asio::awaitable<error_code> connection::connect() {
    auto ec = make_socket();
    if (ec) co_return ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    co_await socket_.async_connect(server_, token);
    co_return ec;
}

asio::awaitable<error_code> connection::open(net::address server_address) {
    if (is_closed_) co_return asio::error::operation_aborted;
    server_ = server_address;
    auto ec = co_await connect();
    if (!ec && is_closed_) ec = asio::error::operation_aborted;
    if (ec) co_return ec;
    // A small request must not wait for the acknowledgement of the one before.
    error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
    if (tls_) {
        is_in_tls_handshake_ = true;
        auto token = asio::redirect_error(asio::deferred, ec);
        co_await tls_->stream.async_handshake(asio::ssl::stream_base::client, token);
    }
    was_opened_ = !ec;
    if (was_opened_) is_in_tls_handshake_ = false;
    co_return ec;
}

std::optional<error> connection::explain_end(const error_code& reason,
                                             const std::string& subject) const {
    if (peer_speaks_tls_)
        return error(errc::protocol, subject + ": this port speaks TLS; write " +
                                         std::string(settings_.with_tls) + " in place of " +
                                         std::string(settings_.without_tls) + " in the URL.");
    if (!tls_) return std::nullopt;
    const net::ended_tls ended{settings_.tls,
                               settings_.contexts->option_prefix(),
                               tls_name_,
                               *tls_->problem,
                               settings_.without_tls,
                               settings_.with_tls};
    return net::explain_tls(reason, ended, subject);
}

void connection::close() noexcept {
    is_closed_ = true;
    error_code ignored;
    if (awaited_.has_unanswered_requests())
        socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    close_socket();
}

void connection::check_end() noexcept {
    if (is_closed_) return;
    char byte = 0;
    const auto received =
        ::recv(socket_.native_handle(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    if (received > 0 || (received < 0 && (errno == EAGAIN || errno == EINTR))) return;
    failure_ = received == 0 ? error_code(asio::error::eof)
                             : error_code(errno, boost::system::system_category());
    // The TLS stream may have replies that it has not decrypted yet. It reads them first: the
    // shutdown only makes it find the end afterwards.
    if (tls_)
        ::shutdown(socket_.native_handle(), SHUT_RD);
    else
        close();
}

void connection::close_socket() noexcept {
    const core::close_on_fork::no_fork fork_lock;
    fork_guard_.forget(fork_lock);
    error_code ignored;
    socket_.close(ignored);
}

void connection::send_subscription(pending_request* request, std::string text) {
    append_command(text, std::array<std::string_view, 1>{"PING"});
    send(request, text, 1, true);
}

// Allocates before it queues the request. A request that is queued but not sent would get the reply
// of the next request.
void connection::send(pending_request* request, std::string_view text, unsigned replies,
                      bool until_pong) {
    const bool is_idle = awaited_.empty();
    to_send_.reserve(to_send_.size() + text.size());
    awaited_.add(*this, request, replies, until_pong);
    to_send_ += text;
    if (is_flushing_) return;
    try {
        if (is_idle)
            flush();
        else
            flush_later();
    } catch (...) {
        close();  // fails the requests whose text nothing would send
        throw;
    }
}

void connection::flush_later() {
    asio::post(strand_, [self = shared_self()] {
        self->is_flushing_ = false;
        try {
            self->flush();
        } catch (...) {
            self->close();  // fails the requests whose text nothing would send
        }
    });
    is_flushing_ = true;
}

void connection::flush() {
    if (to_send_.empty() || is_closed_ || failure_) return;
    sending_.swap(to_send_);
    std::size_t sent = 0;
    error_code ignored;  // the write below reports the same error
    if (!tls_) sent = socket_.write_some(asio::buffer(sending_), ignored);
    if (sent == sending_.size()) {
        clear_sent(sending_);
        return;
    }
    is_flushing_ = true;
    const auto rest = asio::buffer(sending_) + sent;
    auto on_completion = asio::bind_executor(
        strand_, [self = shared_self()](error_code ec, std::size_t) { self->on_written(ec); });
    if (tls_)
        asio::async_write(tls_->stream, rest, std::move(on_completion));
    else
        asio::async_write(socket_, rest, std::move(on_completion));
}

// A server that refuses a client says why and closes. Its words may wait in the socket's buffer
// when a write finds the end. The shutdown makes `read` find the end behind them.
void connection::end_sending(error_code reason) noexcept {
    failure_ = reason;
    if (is_closed_) return;
    ::shutdown(socket_.native_handle(), SHUT_RD);
}

void connection::on_written(error_code ec) {
    is_flushing_ = false;
    clear_sent(sending_);
    if (ec) return end_sending(ec);
    try {
        flush();
    } catch (...) {
        close();
    }
}

asio::awaitable<error_code> connection::read(std::function<void(const reply&)> on_push) {
    error_code ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    for (;;) {
        const auto room = received_.make_room();
        if (room.empty()) co_return bredis::error::exceeds_maximum_read_buffer_size;
        const auto free = asio::buffer(room.data(), room.size());
        std::size_t received = 0;
        if (tls_)
            received = co_await tls_->stream.async_read_some(free, token);
        else
            received = co_await socket_.async_read_some(free, token);
        if (ec) co_return failure_ ? failure_ : ec;
        received_.add(received);
        has_received_ = true;
        peer_speaks_tls_ = !tls_ && is_tls_alert(received_.unparsed());
        bool has_push = false;
        ec = parse(on_push, has_push);
        if (!ec && (has_push || is_in_handshake_)) check_end();
        if (!ec && is_closed_) ec = failure_ ? failure_ : asio::error::operation_aborted;
        if (ec) co_return ec;
    }
}

error_code connection::parse(const std::function<void(const reply&)>& on_push, bool& has_push) {
    for (;;) {
        std::optional<received_message> message;
        const auto ec = received_.parse(message);
        if (ec || !message) return ec;
        if (message->type == received_message::kind::push) {
            has_push = true;
            on_push(message->content);
        } else if (message->type == received_message::kind::reply) {
            awaited_.deliver(std::move(message->content));
        }
        if (is_closed_) return {};
    }
}

void connection::fail_all(const std::string& reason) {
    for (auto* request : waiting_requests())
        request->fail(reason);
}

void connection::drop_all() noexcept {
    is_closed_ = true;
    awaited_.drop_all();
}

}  // namespace pawl::redis
