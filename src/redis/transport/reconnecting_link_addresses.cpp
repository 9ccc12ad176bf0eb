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
        attempt_.end.text = e.what();
        // Another attempt will not help against the others, such as a wrong password.
        const bool may_pass = e.reason() == errc::unreachable || e.reason() == errc::unavailable ||
                              e.reason() == errc::no_quorum;
        if (!may_pass) attempt_.end.failure = std::current_exception();
    }
    if (failure_code) co_return failure_code;
    if (attempt_.must_locate_again) co_return asio::error::operation_aborted;
    if (next.server != target_.location.server) {
        addresses_.forget();
        look_up_.forget();
    }
    target_.location = std::move(next);
    co_return failure_code;
}

// A client that knows a server does not wait for the look-up. If the name no longer leads to that
// server, the client closes the connection and follows the name.
void reconnecting_link::on_resolved(net::addresses resolved) {
    if (attempt_.is_open() && addresses_.must_follow(resolved, attempt_.connection->server())) {
        attempt_.end.text = "the name does not lead to " + net::host_text(addresses_.server()) +
                            " any more, but to " + hosts_of(resolved);
        attempt_.close();
    }
    if (!state_.is_ready() || attempt_.connection->is_closed())
        addresses_.set_resolved(std::move(resolved));
}

// The addresses to try, in order. Waits for the look-up only if no server is known.
asio::awaitable<error_code> reconnecting_link::find_addresses(
    std::shared_ptr<reconnecting_link> self, time_point give_up_at, net::addresses& result) {
    error_code ec;
    if (!target_.location.server.unix_socket.empty()) {
        try {
            result.emplace_back(
                asio::local::stream_protocol::endpoint(target_.location.server.unix_socket));
        } catch (const boost::system::system_error& e) {
            ec = e.code();  // a path that is too long
        }
        co_return ec;
    }
    const auto numeric = asio::ip::make_address(target_.location.server.host, ec);
    if (!ec) {
        result.emplace_back(asio::ip::tcp::endpoint(numeric, target_.location.server.port));
        co_return ec;
    }
    ec = {};
    if (!addresses_.has_resolved()) {
        host_look_up::result_handler on_result = [this](net::addresses resolved) {
            on_resolved(std::move(resolved));
        };
        try {
            look_up_.begin(self, target_.location.server, std::move(on_result));
        } catch (const std::exception&) {
            if (!addresses_.has_server()) throw;
        }
    }
    while (!addresses_.has_server() && !addresses_.has_resolved() && look_up_.is_running() &&
           !is_closed() && !attempt_.must_locate_again && time().now() < give_up_at)
        co_await look_up_.wait_until(give_up_at);
    attempt_.addresses = addresses_.take_resolved();
    result = addresses_.in_order(attempt_.addresses);
    if (attempt_.must_locate_again) co_return asio::error::operation_aborted;
    if (result.empty()) {
        const auto& failure = look_up_.failure();
        ec = failure ? failure : error_code(asio::error::timed_out);
        attempt_.end.text =
            failure ? failure.message() : "no name server has answered so far for its name";
    }
    co_return ec;
}

// Divides the time among the addresses, so that a silent address leaves time for the next ones.
asio::awaitable<error_code> reconnecting_link::try_addresses(
    std::shared_ptr<reconnecting_link> self, const net::addresses& candidates,
    time_point give_up_at) {
    error_code end_code;
    for (std::size_t i = 0; i < candidates.size() && !is_closed(); ++i) {
        const auto attempt_connection = std::make_shared<connection>(
            settings_, target_.location.server.tls_name, context_.strand);
        attempt_.connection = attempt_connection;
        if (const auto notice = settings_.contexts->take_notice(); !notice.empty()) log(notice);
        attempt_.timed_out_after.reset();
        attempt_.handshake_ended = std::make_shared<core::wakeup>(time(), context_.strand);
        const auto now = time().now();
        const auto left = static_cast<duration::rep>(candidates.size() - i);
        const auto until = now + std::max<duration>(give_up_at - now, duration{}) / left;
        asio::co_spawn(context_.strand,
                       limit_handshake(self, attempt_connection, attempt_.handshake_ended, until),
                       asio::detached);
        end_code = co_await attempt_connection->open(candidates[i]);
        if (!end_code || !attempt_.end.text.empty()) break;
        attempt_connection->close();
        attempt_.notify_handshake();
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
    while (!state_.is_ready() && !attempt_connection->is_closed()) {
        const auto now = time().now();
        if (now < until) {
            const auto next_check = settings_.tls.enabled ? now + end_check_interval : until;
            co_await handshake_ended->wait_until(std::min(until, next_check));
            if (attempt_connection->is_in_tls_handshake()) attempt_connection->check_end();
        } else if (attempt_connection->was_opened() &&
                   until < started_at + settings_.reply_timeout) {
            until = started_at + settings_.reply_timeout;
        } else {
            attempt_.timed_out_after = until - started_at;
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
    if (addresses_.is_at_known_address(server_address, new_session.run_id)) co_return;
    const bool is_other = addresses_.is_replaced_by(new_session.run_id);
    if (is_other && net::contains(attempt_.addresses, addresses_.server()))
        throw_other_server(target_.subject, addresses_.server(), server_address);
    auto other_addresses = attempt_.addresses;
    std::erase(other_addresses, server_address);
    if (!other_addresses.empty()) {
        const auto now = time().now();
        const auto limit = now + std::max<duration>(attempt_.ends_at - now, duration{}) / 2;
        const auto servers =
            co_await probe_servers(settings_, used, target_.location.server.tls_name,
                                   context_.strand, time(), other_addresses, limit);
        throw_if_several_servers(target_.subject, server_address, new_session.run_id, servers);
    }
    if (!attempt_.uses(attempt_connection)) co_return;
    if (is_other)
        log("the name leads to " + net::host_text(server_address) +
            " now, which is another server than " + net::host_text(addresses_.server()) +
            " before");
    addresses_.accept(server_address, new_session.run_id);
}

}  // namespace pawl::redis
