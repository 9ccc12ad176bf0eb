// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "zookeeper_proxy.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <chrono>
#include <future>
#include <map>
#include <set>
#include <thread>
#include <utility>

namespace support {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t length_size = 4;

int number_at(const std::string& bytes, std::size_t position) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4 && position + i < bytes.size(); ++i)
        number = number << 8 | static_cast<unsigned char>(bytes[position + i]);
    return static_cast<int>(number);
}

}  // namespace

class zookeeper_proxy::engine : public std::enable_shared_from_this<engine> {
public:
    engine(std::uint16_t server_port, bool reads_requests)
        : server_port_(server_port),
          reads_requests_(reads_requests),
          acceptor_(loop_, {asio::ip::make_address("127.0.0.1"), 0}),
          port_(acceptor_.local_endpoint().port()) {}

    void start() {
        asio::co_spawn(loop_, accept(this), asio::detached);
        thread_ = std::thread([this] { loop_.run(); });
    }
    void stop() {
        loop_.stop();
        thread_.join();
    }
    template <class Change>
    auto run(Change change) {
        std::packaged_task<decltype(change())()> task(std::move(change));
        auto result = task.get_future();
        asio::post(loop_, [&task] { task(); });
        return result.get();
    }

    const std::uint16_t server_port_;
    const bool reads_requests_;
    asio::io_context loop_;
    tcp::acceptor acceptor_;
    const std::uint16_t port_;
    std::thread thread_;

    struct pair {
        explicit pair(asio::io_context& loop) : client(loop), server(loop) {}
        void close() {
            boost::system::error_code ignored;
            client.close(ignored);
            server.close(ignored);
            is_closed = true;
        }
        tcp::socket client, server;
        std::set<int> lost_replies;  // by the number of the request
        bool is_swallowing = false;
        bool is_closed = false;
    };
    using pair_ptr = std::shared_ptr<pair>;

    bool is_frozen = false;
    std::size_t strikes = 0;
    std::optional<zookeeper_fault> fault;
    std::map<int, std::size_t> counts;
    std::set<pair_ptr> pairs;

private:
    static asio::awaitable<void> accept(engine* self) {
        for (;;) {
            auto joined = std::make_shared<pair>(self->loop_);
            co_await self->acceptor_.async_accept(joined->client, asio::use_awaitable);
            self->pairs.insert(joined);
            asio::co_spawn(self->loop_, serve(self, joined), asio::detached);
        }
    }

    static asio::awaitable<void> serve(engine* self, pair_ptr joined) {
        try {
            co_await pass_time(self, joined);
            co_await connect(self, joined);
            boost::system::error_code ignored;
            joined->server.set_option(tcp::no_delay(true), ignored);
            joined->client.set_option(tcp::no_delay(true), ignored);
            asio::co_spawn(self->loop_, forward(self, joined, true), asio::detached);
            co_await forward(self, joined, false);
        } catch (const std::exception&) {
            joined->close();
        }
    }

    // A server that is elected opens its port a moment later than the others try it.
    static asio::awaitable<void> connect(engine* self, pair_ptr joined) {
        const tcp::endpoint server(asio::ip::make_address("127.0.0.1"), self->server_port_);
        asio::steady_timer pause(self->loop_);
        for (int attempt = 0; !joined->is_closed; ++attempt) {
            try {
                co_await joined->server.async_connect(server, asio::use_awaitable);
                co_return;
            } catch (const std::exception&) {
                if (self->reads_requests_ || attempt == 100) throw;
                joined->server.close();
            }
            pause.expires_after(20ms);
            co_await pause.async_wait(asio::use_awaitable);
        }
    }

    static asio::awaitable<void> pass_time(engine* self, pair_ptr joined) {
        asio::steady_timer pause(self->loop_);
        while ((self->is_frozen || joined->is_swallowing) && !joined->is_closed) {
            pause.expires_after(5ms);
            co_await pause.async_wait(asio::use_awaitable);
        }
    }

    static asio::awaitable<void> forward(engine* self, pair_ptr joined, bool from_client) {
        auto& from = from_client ? joined->client : joined->server;
        auto& to = from_client ? joined->server : joined->client;
        bool is_first = true;
        try {
            for (;;) {
                std::string bytes;
                if (self->reads_requests_) {
                    bytes.resize(length_size);
                    co_await asio::async_read(from, asio::buffer(bytes), asio::use_awaitable);
                    const auto size = static_cast<std::size_t>(number_at(bytes, 0));
                    bytes.resize(length_size + size);
                    co_await asio::async_read(from, asio::buffer(bytes) + length_size,
                                              asio::use_awaitable);
                } else {
                    bytes.resize(65536);
                    const auto count =
                        co_await from.async_read_some(asio::buffer(bytes), asio::use_awaitable);
                    bytes.resize(count);
                }
                co_await pass_time(self, joined);
                // The first message of each side is that of the session.
                if (self->reads_requests_ && !std::exchange(is_first, false)) {
                    if (from_client) self->strike(*joined, bytes);
                    if (!from_client && joined->lost_replies.contains(number_at(bytes, 4)))
                        joined->close();
                }
                co_await pass_time(self, joined);
                co_await asio::async_write(to, asio::buffer(bytes), asio::use_awaitable);
            }
        } catch (const std::exception&) {
            joined->close();
            self->pairs.erase(joined);
        }
    }

    void strike(pair& joined, const std::string& bytes) {
        const int operation = number_at(bytes, 8);
        ++counts[operation];
        if (!fault || fault->operation != operation) return;
        ++strikes;
        const auto kind = std::exchange(fault, std::nullopt)->kind;
        if (kind == zookeeper_fault_kind::lose_request) joined.close();
        if (kind == zookeeper_fault_kind::lose_reply)
            joined.lost_replies.insert(number_at(bytes, 4));
        if (kind == zookeeper_fault_kind::swallow) joined.is_swallowing = true;
    }
};

zookeeper_proxy::zookeeper_proxy(std::uint16_t server_port, bool reads_requests)
    : engine_(std::make_shared<engine>(server_port, reads_requests)) {
    engine_->start();
}

zookeeper_proxy::~zookeeper_proxy() { engine_->stop(); }

std::uint16_t zookeeper_proxy::port() const noexcept { return engine_->port_; }

void zookeeper_proxy::inject(zookeeper_fault injected) {
    engine_->run([this, injected] { engine_->fault = injected; });
}

std::size_t zookeeper_proxy::strike_count() const {
    return engine_->run([this] { return engine_->strikes; });
}

std::size_t zookeeper_proxy::count(int operation) const {
    return engine_->run([this, operation] { return engine_->counts[operation]; });
}

void zookeeper_proxy::kill_connections() {
    engine_->run([this] {
        for (const auto& each : engine_->pairs)
            each->close();
    });
}

void zookeeper_proxy::freeze(bool frozen) {
    engine_->run([this, frozen] { engine_->is_frozen = frozen; });
}

}  // namespace support
