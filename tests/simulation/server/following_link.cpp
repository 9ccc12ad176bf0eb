// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "following_link.hpp"

#include "simulated_link.hpp"

#include <redis/native/backend.hpp>
#include <redis/topology/single_server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

using redis::link;

asio::awaitable<void> close_link(std::shared_ptr<link> ended) {
    co_await ended->close(time_point::min());
}

// The real link connects without waiting for a request.
asio::awaitable<void> connect_link(std::shared_ptr<link> made, time_point give_up_at) {
    const std::array<std::string_view, 1> ping{"PING"};
    try {
        (void)co_await made->exec(ping, give_up_at);
    } catch (const error&) {}
}

class following_link final : public link {
public:
    following_link(std::vector<redis::link_factory> servers, master_notice& notice,
                   const backend_context& context, link::listener& receiver, std::string channel)
        : servers_(std::move(servers)),
          notice_(notice),
          context_(context),
          listener_(&receiver),
          channel_(std::move(channel)) {
        notice_.on_move([this] { follow(); });
        connect();
    }
    ~following_link() override {
        notice_.on_move({});
        receiver_->owner = nullptr;
    }

    asio::awaitable<redis::reply> exec(std::span<const std::string_view> command,
                                       time_point give_up_at, redis::prelude before) override {
        return current_->exec(command, give_up_at, before);
    }
    const redis::session& current() const noexcept override { return session_; }
    bool connected() const noexcept override { return current_->connected(); }
    asio::awaitable<void> close(time_point give_up_at) override {
        is_closing_ = true;
        return current_->close(give_up_at);
    }
    void forget_listener() noexcept override { listener_ = nullptr; }

private:
    // The events of one connection: those of a connection that was left reach nobody.
    struct connection_receiver final : link::listener {
        following_link* owner = nullptr;
        void on_message(std::string_view channel, std::string_view payload) override {
            if (owner && owner->listener_) owner->listener_->on_message(channel, payload);
        }
        void on_invalidate(std::string_view key) override {
            if (owner && owner->listener_) owner->listener_->on_invalidate(key);
        }
        void on_connected(const link& connected_link) override {
            if (owner) owner->begin_session(connected_link);
        }
    };

    void connect() {
        receiver_ = std::make_shared<connection_receiver>();
        receiver_->owner = this;
        receivers_.push_back(receiver_);
        current_ = servers_.at(notice_.server())(*receiver_, channel_);
    }
    void follow() {
        if (is_closing_) return;
        receiver_->owner = nullptr;
        left_.push_back(current_);
        asio::co_spawn(context_.strand, close_link(current_), asio::detached);
        connect();
        asio::co_spawn(context_.strand,
                       connect_link(current_, context_.time->now() + std::chrono::minutes(1)),
                       asio::detached);
    }
    void begin_session(const link& connected_link) {
        session_ = connected_link.current();
        session_.connection_number = ++connections_;
        session_.epoch = notice_.epoch();
        if (listener_) listener_->on_connected(*this);
    }

    const std::vector<redis::link_factory> servers_;
    master_notice& notice_;
    const backend_context context_;
    link::listener* listener_;
    const std::string channel_;
    std::shared_ptr<link> current_;
    std::shared_ptr<connection_receiver> receiver_;
    // Their requests in flight may still end.
    std::vector<std::shared_ptr<link>> left_;
    std::vector<std::shared_ptr<connection_receiver>> receivers_;
    redis::session session_;
    std::uint64_t connections_ = 0;
    bool is_closing_ = false;
};

class following_definition final : public service::definition {
public:
    following_definition(std::vector<simulated_network*> servers, master_notice& notice,
                         simulated_process& process, redis::options options)
        : servers_(std::move(servers)),
          notice_(notice),
          process_(process),
          options_(std::move(options)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        std::vector<redis::link_factory> connects;
        for (auto* each : servers_)
            connects.push_back(
                simulated_link_factory(*each, process_, context, options_, injected_bug::none));
        const redis::link_factory connect = [this, connects, context](link::listener& receiver,
                                                                      const std::string& channel) {
            return std::make_shared<following_link>(connects, notice_, context, receiver, channel);
        };
        return redis::make_backend(options_, context, redis::single_server_factory(connect));
    }
    std::string describe() const override { return "simulated master"; }

private:
    const std::vector<simulated_network*> servers_;
    master_notice& notice_;
    simulated_process& process_;
    const redis::options options_;
};

}  // namespace

service following_service(std::vector<simulated_network*> servers, master_notice& notice,
                          simulated_process& process, const redis::options& options) {
    return service(
        std::make_shared<following_definition>(std::move(servers), notice, process, options));
}

}  // namespace pawl::simulation
