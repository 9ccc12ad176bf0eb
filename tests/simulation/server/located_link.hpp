// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A link to the server that a locator names, over the simulated networks of several servers. It
// treats the locator as reconnecting_link does: it asks before each connection and after each
// handshake, uses no replica, and leaves a server when the locator names another one.
#pragma once

#include "../bugs/topology_bugs.hpp"
#include "core/util/spi.hpp"

#include <core/util/wakeup.hpp>
#include <redis/transport/link.hpp>
#include <redis/transport/locator.hpp>

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {

class located_link final : public redis::link, public std::enable_shared_from_this<located_link> {
public:
    // `servers`: by their ports, from `first_port` on.
    struct settings {
        std::vector<redis::link_factory> servers;
        std::uint16_t first_port = 0;
        duration connect_timeout{};
        topology_bug bug = topology_bug::none;
    };
    located_link(std::shared_ptr<redis::locator> server_locator, settings given,
                 const backend_context& context, redis::link::listener& receiver,
                 std::string channel);

    // The locator knows another server.
    void reconnect() noexcept;

    boost::asio::awaitable<redis::reply> exec(std::span<const std::string_view> words,
                                              time_point give_up_at,
                                              redis::prelude before) override;
    [[nodiscard]] const redis::session& current() const noexcept override { return session_; }
    [[nodiscard]] bool connected() const noexcept override { return is_ready_; }
    boost::asio::awaitable<void> close(time_point give_up_at) override;
    void forget_listener() noexcept override { listener_ = nullptr; }

private:
    // The events of one connection; those of an earlier one reach nobody.
    struct connection_receiver final : redis::link::listener {
        located_link* owner = nullptr;
        bool has_ended = false;
        void on_message(std::string_view channel, std::string_view payload) override;
        void on_invalidate(std::string_view key) override;
        void on_connected(const redis::link&) override {}
        void on_disconnected(const redis::link&) noexcept override;
    };

    [[nodiscard]] time_point now() const noexcept { return context_.time->now(); }
    boost::asio::awaitable<void> run(std::shared_ptr<located_link> self);
    // Connects to this server. False: it is not the one, or does not answer.
    boost::asio::awaitable<bool> open(redis::location at);
    void begin_session(std::uint64_t epoch);
    void end_session();
    boost::asio::awaitable<void> wait_until_ready(time_point give_up_at);
    boost::asio::awaitable<redis::reply> exec_later(std::vector<std::string> words,
                                                    time_point give_up_at, redis::prelude before);
    boost::asio::awaitable<redis::reply> exec_now(std::span<const std::string_view> words,
                                                  time_point give_up_at, redis::prelude before);

    const std::shared_ptr<redis::locator> locator_;
    const settings settings_;
    const backend_context context_;
    redis::link::listener* listener_;
    const std::string channel_;
    std::shared_ptr<redis::link> connection_;
    std::shared_ptr<connection_receiver> receiver_;
    // Their requests in flight may still end.
    std::vector<std::shared_ptr<redis::link>> earlier_;
    std::vector<std::shared_ptr<connection_receiver>> earlier_receivers_;
    redis::session session_;
    std::uint64_t first_epoch_ = 0;
    core::wakeup changed_;
    std::list<core::wakeup*> ready_waiters_;
    bool is_ready_ = false;
    bool is_running_ = false;
    bool is_closing_ = false;
    bool must_locate_again_ = false;
};

}  // namespace pawl::simulation
