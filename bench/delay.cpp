// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A proxy that delays what it forwards, like a network between two machines.
#include "workers.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace bench {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::steady_clock;

struct connection {
    explicit connection(tcp::socket accepted)
        : client(std::move(accepted)), server(client.get_executor()) {}
    void close() {
        boost::system::error_code ignored;
        client.close(ignored);
        server.close(ignored);
    }
    tcp::socket client;
    tcp::socket server;
};
using connection_ptr = std::shared_ptr<connection>;

// One direction: what has been read, and when it is due.
struct pipe {
    pipe(tcp::socket& source, tcp::socket& target)
        : from(source), to(target), arrived(from.get_executor()) {}
    struct chunk {
        steady_clock::time_point due;
        std::string data;
    };
    tcp::socket& from;
    tcp::socket& to;
    std::deque<chunk> chunks;
    steady_clock::duration delay{};
    asio::steady_timer arrived;
    bool ended = false;
};
using pipe_ptr = std::shared_ptr<pipe>;

asio::awaitable<void> read_into(connection_ptr link, pipe_ptr way) {
    std::string buffer(65536, '\0');
    while (!way->ended) {
        boost::system::error_code failed;
        const auto size = co_await way->from.async_read_some(
            asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, failed));
        way->ended = way->ended || failed;
        if (size > 0)
            way->chunks.push_back({steady_clock::now() + way->delay, buffer.substr(0, size)});
        way->arrived.cancel();
    }
    link->close();
}

asio::awaitable<void> write_from(connection_ptr link, pipe_ptr way) {
    asio::steady_timer timer(way->from.get_executor());
    boost::system::error_code failed;
    while (!way->ended && !failed) {
        if (way->chunks.empty()) {
            boost::system::error_code ignored;
            way->arrived.expires_at(steady_clock::time_point::max());
            co_await way->arrived.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
            continue;
        }
        auto next = std::move(way->chunks.front());
        way->chunks.pop_front();
        timer.expires_at(next.due);
        co_await timer.async_wait(asio::use_awaitable);
        co_await asio::async_write(way->to, asio::buffer(next.data),
                                   asio::redirect_error(asio::use_awaitable, failed));
    }
    link->close();
}

asio::awaitable<void> accept_all(tcp::acceptor& acceptor, std::uint16_t target,
                                 steady_clock::duration delay) {
    for (;;) {
        const auto link =
            std::make_shared<connection>(co_await acceptor.async_accept(asio::use_awaitable));
        boost::system::error_code failed;
        co_await link->server.async_connect({asio::ip::address_v4::loopback(), target},
                                            asio::redirect_error(asio::use_awaitable, failed));
        if (failed) continue;
        link->client.set_option(tcp::no_delay(true), failed);
        link->server.set_option(tcp::no_delay(true), failed);
        const auto up = std::make_shared<pipe>(link->client, link->server);
        const auto down = std::make_shared<pipe>(link->server, link->client);
        up->delay = down->delay = delay;
        const auto executor = acceptor.get_executor();
        for (const auto& each : {up, down}) {
            asio::co_spawn(executor, read_into(link, each), asio::detached);
            asio::co_spawn(executor, write_from(link, each), asio::detached);
        }
    }
}

}  // namespace

int delay_process(const std::vector<std::string>& targets) {
    asio::io_context loop(1);
    std::deque<tcp::acceptor> acceptors;
    std::string ports;
    for (const auto& each : targets) {
        const auto colon = each.find(':');
        const auto port = static_cast<std::uint16_t>(std::stoi(each.substr(0, colon)));
        const auto delay = std::chrono::microseconds(std::stoi(each.substr(colon + 1)));
        auto& acceptor =
            acceptors.emplace_back(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        ports += (ports.empty() ? "" : " ") + std::to_string(acceptor.local_endpoint().port());
        asio::co_spawn(loop, accept_all(acceptor, port, delay / 2), asio::detached);
    }
    write_line(ports);
    loop.run();
    return 0;
}

}  // namespace bench
