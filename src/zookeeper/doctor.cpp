// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "doctor.hpp"

#include "errors.hpp"
#include "server_state.hpp"

#include "../net/host_addresses.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::zookeeper {
namespace {

// A connection for one question. It is closed at the limit, or when the question goes away.
struct questioned {
    std::shared_ptr<connection> to;
    std::shared_ptr<core::wakeup> ended;

    ~questioned() {
        if (to) to->close();
        if (ended) ended->notify();
    }
};

asio::awaitable<void> close_at(std::shared_ptr<connection> closed,
                               std::shared_ptr<core::wakeup> ended, time_point limit) {
    co_await ended->wait_until(limit);
    closed->close();
}

asio::awaitable<std::shared_ptr<questioned>> open(std::shared_ptr<lock_client> client,
                                                  net::endpoint target, time_point limit) {
    const auto& context = client->context();
    const auto subject = "ZooKeeper at " + net::text_of(target);
    const auto addresses = co_await net::host_addresses(target.host, "a ZooKeeper server", limit,
                                                        context.strand, *context.time);
    const auto made = std::make_shared<questioned>();
    made->to =
        std::make_shared<connection>(client->settings().tls, target.tls_name, context.strand);
    made->ended = std::make_shared<core::wakeup>(*context.time, context.strand);
    asio::co_spawn(context.strand, close_at(made->to, made->ended, limit), asio::detached);
    const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(addresses.front()), target.port);
    const auto ec = co_await made->to->open(net::address(endpoint));
    if (ec) throw connection_error(*made->to, ec, client->now() >= limit, subject);
    co_return made;
}

// The timeout that the server gives for this one. The session is closed again.
asio::awaitable<duration> offered_session(std::shared_ptr<lock_client> client, net::endpoint target,
                                          std::int32_t timeout_ms, time_point limit) {
    const auto server = co_await open(client, target, limit);
    connect_request hello;
    hello.timeout_ms = timeout_ms;
    server->to->send(frame_of(hello));
    boost::system::error_code ec;
    const auto frame = co_await server->to->read_frame(ec);
    if (ec)
        throw connection_error(*server->to, ec, client->now() >= limit,
                               "ZooKeeper at " + net::text_of(target));
    const auto answer = read_connect_reply(frame);
    const request goodbye{operation::close_session, {}};
    server->to->send(frame_of(1, goodbye));
    static_cast<void>(co_await server->to->read_frame(ec));
    co_return answer.timeout_ms* duration(1ms);
}

asio::awaitable<server_state> examine_server(std::shared_ptr<lock_client> client,
                                             net::endpoint target, time_point limit) {
    static constexpr std::int32_t a_day = 86'400'000;
    server_state state;
    state.name = net::text_of(target);
    try {
        const auto server = co_await open(client, target, limit);
        server->to->send("srvr");
        const auto answer = co_await server->to->read_text();
        read_srvr(state, answer);
        state.shortest_session = co_await offered_session(client, target, 1, limit);
        state.longest_session = co_await offered_session(client, target, a_day, limit);
    } catch (const error& failed) {
        state.failure = failed.what();
    }
    co_return state;
}

}  // namespace

asio::awaitable<examination> examine(std::shared_ptr<lock_client> client) {
    client->throw_if_forked();
    const core::in_flight::guard operation(client->operations());
    const auto limit = client->try_deadline();
    // Throws what every use of the locks would.
    const auto used = co_await client->sessions().get_any(limit);
    const auto root = client->settings().root;
    const auto asked = get_data_request(root, false);
    const auto answer = co_await used->ask(asked, limit);
    if (answer.code != reply_code::no_node || !client->settings().makes_root)
        throw_if_failed(answer, client->settings(), root);
    std::vector<server_state> servers;
    for (const auto& each : client->settings().servers) {
        const auto share = client->now() + std::max<duration>(client->context().try_limit, 5s);
        auto state = co_await examine_server(client, each, share);
        servers.push_back(std::move(state));
    }
    co_return examination_of(servers, client->settings());
}

}  // namespace pawl::zookeeper
