// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connector.hpp"

#include "commit_settings.hpp"
#include "handshake.hpp"
#include "shedlock.hpp"

#include "../core/util/wakeup.hpp"
#include "../net/host_addresses.hpp"
#include "../sql/answers.hpp"
#include "../sql/worst_failure.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::postgres {
namespace {

bool has(const parameters& all, std::string_view name) {
    return std::ranges::any_of(all, [name](const auto& each) { return each.first == name; });
}

constexpr std::string_view server_prefix = "PostgreSQL at ";

// A single empty one for a Unix socket.
asio::awaitable<std::vector<std::string>> addresses_of(const host_entry& host,
                                                       time_point give_up_at,
                                                       const backend_context& context) {
    std::vector<std::string> addresses{host.address};
    if (!host.is_local() && host.address.empty())
        addresses = co_await net::host_addresses(host.host, "a PostgreSQL server", give_up_at,
                                                 context.strand, *context.time);
    co_return addresses;
}

// libpq names the numeric address, except of a Unix socket.
bool is_remote(const PGconn* connected) {
    const std::string_view address = ::PQhostaddr(connected);
    return !address.empty() && address != "::1" && !address.starts_with("127.");
}

}  // namespace

connector::connector(options settings, backend_context context)
    : options_(std::move(settings)),
      connection_(parse_connection(options_.connection)),
      context_(std::move(context)) {}

std::string connector::describe() const {
    std::string text(server_prefix);
    for (const auto& each : connection_.hosts) {
        if (&each != connection_.hosts.data()) text += ", ";
        text += each.text();
    }
    return text;
}

asio::awaitable<std::shared_ptr<sql::session>> connector::connect(sql::session_handlers handlers,
                                                                  time_point give_up_at) {
    preparation prepare = [this, handlers = std::move(handlers)](std::shared_ptr<connection> made,
                                                                 time_point limit) {
        return greet(std::move(made), handlers, limit);
    };
    co_return co_await connect_with(std::move(prepare), give_up_at);
}

asio::awaitable<void> connector::greet(std::shared_ptr<connection> made,
                                       sql::session_handlers handlers, time_point give_up_at) {
    auto facts =
        co_await shake_hands(made, options_, *context_.time, context_.log, activity_, give_up_at);
    made->set_ready(std::move(facts), std::move(handlers));
}

asio::awaitable<std::shared_ptr<connection>> connector::connect_with(preparation prepare,
                                                                     time_point give_up_at) {
    sql::worst_failure failures;
    auto remaining_hosts = connection_.hosts.size();
    for (const auto& host : connection_.hosts) {
        const auto host_limit = limit_of_attempt(remaining_hosts--, give_up_at);
        try {
            const auto addresses = co_await addresses_of(host, host_limit, context_);
            auto remaining = addresses.size();
            for (const auto& address : addresses) {
                const auto limit = limit_of_attempt(remaining--, host_limit);
                try {
                    co_return co_await connect_to(host, address, prepare, limit);
                } catch (const error& failure) {
                    failures.add(failure);
                }
            }
        } catch (const error& failure) {
            failures.add(failure);
        }
    }
    failures.rethrow();
}

time_point connector::limit_of_attempt(std::size_t remaining, time_point give_up_at) const {
    const auto now = context_.time->now();
    auto limit = now + (give_up_at - now) / static_cast<duration::rep>(remaining);
    if (connection_.timeout > duration{}) limit = std::min(limit, now + connection_.timeout);
    return limit;
}

asio::awaitable<std::shared_ptr<connection>> connector::connect_to(const host_entry& host,
                                                                   const std::string& address,
                                                                   const preparation& prepare,
                                                                   time_point give_up_at) {
    const error_place place{std::string(server_prefix) + host.text(), options_.schema,
                            options_.shedlock ? options_.shedlock->name : std::string()};
    auto opened = co_await open(host, address, place, give_up_at);
    const auto session =
        std::make_shared<connection>(std::move(opened), place, context_.strand, *context_.time);
    session->start();
    co_await prepare(session, give_up_at);
    co_return session;
}

asio::awaitable<std::unique_ptr<libpq_connection>> connector::open(const host_entry& host,
                                                                   const std::string& address,
                                                                   const error_place& place,
                                                                   time_point give_up_at) {
    const auto began_at = context_.time->now();
    auto connection = std::make_unique<libpq_connection>(context_.strand);
    const auto ready = std::make_shared<core::wakeup>(*context_.time, context_.strand);
    connection->start(parameters_for(host, address));
    auto status = ::PQstatus(connection->get()) == CONNECTION_BAD ? PGRES_POLLING_FAILED
                                                                  : PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK) {
        const auto wake = [ready] { ready->notify(); };
        const bool is_waiting = status == PGRES_POLLING_READING   ? connection->when_readable(wake)
                                : status == PGRES_POLLING_WRITING ? connection->when_writable(wake)
                                                                  : false;
        if (!is_waiting)
            throw connect_error(error_in(connection->get()), place,
                                ::PQconnectionNeedsPassword(connection->get()) == 1);
        const bool is_ready = co_await ready->wait_until(give_up_at);
        if (!is_ready && context_.time->now() >= give_up_at)
            throw error(errc::unreachable,
                        place.server + ": no connection within " +
                            std::to_string((context_.time->now() - began_at) / 1ms) + " ms.");
        status = connection->poll();
    }
    co_return connection;
}

parameters connector::parameters_for(const host_entry& host, const std::string& address) const {
    auto all = connection_.parameters;
    const auto set_default = [&all](const char* name, const char* value) {
        if (!has(all, name)) all.emplace_back(name, value);
    };
    // A dead server is noticed in about 5 s, also by a client that only waits.
    set_default("keepalives", "1");
    set_default("keepalives_idle", "2");
    set_default("keepalives_interval", "1");
    set_default("keepalives_count", "3");
    set_default("tcp_user_timeout", "5000");
    set_default("fallback_application_name", "pawl");
    if (!host.host.empty()) all.emplace_back("host", host.host);
    if (!address.empty()) all.emplace_back("hostaddr", address);
    all.emplace_back("port", std::to_string(host.port));
    all.emplace_back("client_encoding", "UTF8");
    all.emplace_back("target_session_attrs", "any");
    return all;
}

asio::awaitable<examination> connector::examine(sql::session& connected, time_point give_up_at) {
    auto& session = static_cast<connection&>(connected);
    auto state = co_await ask_for_state(session, options_.schema, *context_.time, give_up_at);
    state.has_proxy = !session.facts().is_pushed;
    state.hold_off = session.facts().hold_off;
    if (options_.shedlock) {
        auto counted = session.send(future_locks_query(*options_.shedlock));
        const auto answer = co_await session.wait(std::move(counted), give_up_at);
        if (!answer.empty()) state.future_locks = sql::number_in(answer.front(), 0);
    }
    co_return assess(state, options_, node_name(session.place()));
}

asio::awaitable<server_state> ask_for_state(connection& session, std::string schema, runtime& time,
                                            time_point give_up_at) {
    const auto asked_at = time.now();
    auto sent = session.send(state_query(), {std::move(schema)});
    const auto rows = co_await session.wait(std::move(sent), give_up_at);
    auto state = read_state(rows, session.place());
    const auto wall_clock = time.wall_clock() - (time.now() - asked_at) / 2;
    state.clock_offset -= wall_clock.time_since_epoch();
    state.has_tls = ::PQsslInUse(session.handle()) == 1;
    state.is_remote = is_remote(session.handle());
    co_return state;
}

std::string node_name(const error_place& place) {
    return place.server.substr(server_prefix.size());
}

asio::awaitable<void> connector::check_durability(sql::session& connected, durability wanted,
                                                  time_point give_up_at) {
    auto& session = static_cast<connection&>(connected);
    auto sent = session.send(durability_query());
    const auto rows = co_await session.wait(std::move(sent), give_up_at);
    postgres::check_durability(read_commit_settings(rows, session.place()), wanted,
                               session.place());
}

spi::capabilities connector::capabilities() const noexcept {
    return {.loss_is_pushed = false,
            .least_ttl = 100ms,
            .strictly_fair = true,
            .shared = true,
            .permits = true,
            .downgrades = true,
            .caller_values = true,
            .acquire_batch = true,
            .replica_durability = true,
            .disk_durability = true,
            .latches = true,
            .barriers = true};
}

}  // namespace pawl::postgres
