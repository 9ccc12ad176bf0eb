// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The choice of the address for a connection: first the address of the last server, then those of
// the host's name. And the check whether another server may replace the last one.
#include "reconnecting_link.hpp"

#include "server_comparison.hpp"

#include <pawl/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// The interval at which a TLS handshake looks for the end of its connection.
constexpr auto end_check_interval = 100ms;

std::string hosts_of(const net::addresses& candidates) {
    std::string text;
    for (const auto& each : candidates)
        text.append(text.empty() ? "" : " and ").append(net::host_text(each));
    return text;
}

}  // namespace

asio::awaitable<error_code> reconnecting_link::locate(time_point give_up_at) {
    location next;
    error_code failure_code;
    try {
        next = co_await locator_->next(give_up_at);
    } catch (const error& e) {
        failure_code = asio::error::host_not_found;
        attempt_end_.text = e.what();
        // Another attempt will not help against the others, such as a wrong password.
        const bool may_pass = e.reason() == errc::unreachable || e.reason() == errc::unavailable ||
                              e.reason() == errc::no_quorum;
        if (!may_pass) attempt_end_.failure = std::current_exception();
    }
    if (failure_code) co_return failure_code;
    if (must_locate_again_) co_return asio::error::operation_aborted;
    if (next.server != location_.server) forget_server();
    location_ = std::move(next);
    co_return failure_code;
}

// Another endpoint has other addresses, and another server than the last one is no error there.
void reconnecting_link::forget_server() noexcept {
    server_.reset();
    resolved_.clear();
    attempt_addresses_.clear();
    look_up_failure_ = {};
    if (const auto running_look_up = look_up_.lock()) running_look_up->cancel();
    look_up_.reset();
}

void reconnecting_link::begin_look_up(const std::shared_ptr<reconnecting_link>& self) {
    if (!look_up_.expired()) return;
    auto started_look_up =
        std::make_shared<net::name_look_up>(context_.strand, location_.server.host);
    look_up_ = started_look_up;
    look_up_failure_ = {};
    asio::co_spawn(context_.strand, run_look_up(self, std::move(started_look_up)), asio::detached);
}

asio::awaitable<void> reconnecting_link::run_look_up(
    [[maybe_unused]] std::shared_ptr<reconnecting_link> self,
    std::shared_ptr<net::name_look_up> started_look_up) {
    net::addresses resolved;
    error_code failure_code;
    try {
        failure_code = co_await started_look_up->wait(location_.server.port, resolved);
    } catch (const std::exception&) {
        failure_code = asio::error::no_memory;
    }
    const bool is_current = look_up_.lock() == started_look_up;
    started_look_up.reset();
    if (!is_closing_ && is_current) {
        look_up_failure_ = failure_code;
        if (!failure_code) on_resolved(std::move(resolved));
    }
    look_up_ended_.notify();
}

// A client that knows a server does not wait for the look-up. If the name no longer leads to that
// server, the client closes the connection and follows the name.
void reconnecting_link::on_resolved(net::addresses resolved) {
    const bool is_busy = connection_ && !connection_->is_closed();
    if (is_busy && server_ && connection_->server() == server_->server_address &&
        !net::contains(resolved, server_->server_address)) {
        attempt_end_.text = "the name does not lead to " + net::host_text(server_->server_address) +
                            " any more, but to " + hosts_of(resolved);
        connection_->close();
    }
    if (!is_ready_ || connection_->is_closed()) resolved_ = std::move(resolved);
}

// The addresses to try, in order. Waits for the look-up only if no server is known.
asio::awaitable<error_code> reconnecting_link::find_addresses(
    std::shared_ptr<reconnecting_link> self, time_point give_up_at, net::addresses& result) {
    error_code ec;
    if (!location_.server.unix_socket.empty()) {
        try {
            result.emplace_back(
                asio::local::stream_protocol::endpoint(location_.server.unix_socket));
        } catch (const boost::system::system_error& e) {
            ec = e.code();  // a path that is too long
        }
        co_return ec;
    }
    const auto numeric = asio::ip::make_address(location_.server.host, ec);
    if (!ec) {
        result.emplace_back(asio::ip::tcp::endpoint(numeric, location_.server.port));
        co_return ec;
    }
    ec = {};
    if (resolved_.empty()) {
        try {
            begin_look_up(self);
        } catch (const std::exception&) {
            if (!server_) throw;
        }
    }
    while (!server_ && resolved_.empty() && !look_up_.expired() && !is_closed() &&
           !must_locate_again_ && time().now() < give_up_at)
        co_await look_up_ended_.wait_until(give_up_at);
    result = attempt_addresses_ = std::exchange(resolved_, {});
    if (server_ && result.empty()) result.push_back(server_->server_address);
    if (server_)
        std::ranges::stable_partition(
            result, [this](const net::address& each) { return each == server_->server_address; });
    if (must_locate_again_) co_return asio::error::operation_aborted;
    if (result.empty()) {
        ec = look_up_failure_ ? look_up_failure_ : error_code(asio::error::timed_out);
        attempt_end_.text = look_up_failure_ ? look_up_failure_.message()
                                             : "no name server has answered so far for its name";
    }
    co_return ec;
}

// Divides the time among the addresses, so that a silent address leaves time for the next ones.
asio::awaitable<error_code> reconnecting_link::try_addresses(
    std::shared_ptr<reconnecting_link> self, const net::addresses& candidates,
    time_point give_up_at) {
    error_code end_code;
    for (std::size_t i = 0; i < candidates.size() && !is_closed(); ++i) {
        const auto attempt_connection =
            std::make_shared<connection>(settings_, location_.server.tls_name, context_.strand);
        connection_ = attempt_connection;
        if (const auto notice = settings_.contexts->take_notice(); !notice.empty()) log(notice);
        timed_out_after_.reset();
        handshake_ended_ = std::make_shared<core::wakeup>(time(), context_.strand);
        const auto now = time().now();
        const auto left = static_cast<duration::rep>(candidates.size() - i);
        const auto until = now + std::max<duration>(give_up_at - now, duration{}) / left;
        asio::co_spawn(context_.strand,
                       limit_handshake(self, attempt_connection, handshake_ended_, until),
                       asio::detached);
        end_code = co_await attempt_connection->open(candidates[i]);
        if (!end_code || !attempt_end_.text.empty()) break;
        attempt_connection->close();
        handshake_ended_->notify();
    }
    co_return end_code;
}

// Closes a connection whose handshake does not succeed in time: the server cannot be reached, says
// nothing, or is not Redis. During a TLS handshake, looks for an end that came together with data.
asio::awaitable<void> reconnecting_link::limit_handshake(
    [[maybe_unused]] std::shared_ptr<reconnecting_link> self,
    std::shared_ptr<connection> attempt_connection, std::shared_ptr<core::wakeup> handshake_ended,
    time_point until) {
    const auto started_at = time().now();
    while (!is_ready_ && !attempt_connection->is_closed()) {
        const auto now = time().now();
        if (now < until) {
            const auto next_check = settings_.tls.enabled ? now + end_check_interval : until;
            co_await handshake_ended->wait_until(std::min(until, next_check));
            if (attempt_connection->is_in_tls_handshake()) attempt_connection->check_end();
        } else if (attempt_connection->was_opened() &&
                   until < started_at + settings_.reply_timeout) {
            until = started_at + settings_.reply_timeout;
        } else {
            timed_out_after_ = until - started_at;
            attempt_connection->close();
        }
    }
}

// A restarted server has a new run_id at its old address. A server at another address is another
// server, unless it has the known run_id. It may replace the known server only if the name no
// longer leads to the known address. Example:
//   B holds a lock at 127.0.0.2 while 127.0.0.1 restarts. Then C connects to 127.0.0.1.
//   C must not get the lock. So C also asks 127.0.0.2, which has another run_id.
asio::awaitable<void> reconnecting_link::check_server(
    std::shared_ptr<connection> attempt_connection, const login& used, const session& new_session) {
    const auto server_address = attempt_connection->server();
    if (settings_.is_sentinel) co_return;
    if (server_ && server_->server_address == server_address) {
        server_->run_id = new_session.run_id;
        co_return;
    }
    const bool is_other =
        server_ && (new_session.run_id.empty() || new_session.run_id != server_->run_id);
    if (is_other && net::contains(attempt_addresses_, server_->server_address))
        throw_other_server(subject_, server_->server_address, server_address);
    auto other_addresses = attempt_addresses_;
    std::erase(other_addresses, server_address);
    if (!other_addresses.empty()) {
        const auto now = time().now();
        const auto limit = now + std::max<duration>(attempt_ends_at_ - now, duration{}) / 2;
        const auto servers =
            co_await probe_servers(settings_, used, location_.server.tls_name, context_.strand,
                                   time(), other_addresses, limit);
        throw_if_several_servers(subject_, server_address, new_session.run_id, servers);
    }
    if (connection_ != attempt_connection || attempt_connection->is_closed()) co_return;
    if (is_other)
        log("the name leads to " + net::host_text(server_address) +
            " now, which is another server than " + net::host_text(server_->server_address) +
            " before");
    server_ = known_server{server_address, new_session.run_id};
}

}  // namespace pawl::redis
