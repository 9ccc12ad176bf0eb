// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Waits until replicas, or the append-only file, have the holds of a grant. The requests use
// connections of their own, because WAIT blocks its connection: the renewals of other holds must
// not stand behind it.
#pragma once

#include "../../core/engine/waiting_room.hpp"
#include "../topology/topology.hpp"
#include "limits.hpp"

#include <pawl/durability.hpp>
#include <pawl/spi/backend.hpp>

#include <functional>
#include <memory>
#include <string>

namespace pawl::redis {

// Used on one strand, except for `forget_listener`.
class acknowledgements final : private link::listener {
public:
    // Connects when the first request needs it.
    acknowledgements(const topology_factory& connect, const backend_context& context,
                     const limits& bounds);

    struct request {
        std::string key;      // of the lock, or of one of several locks of one server
        std::string subject;  // the first words of an error: "The lock 'x'"
        durability wanted;
        time_point give_up_at;
        // Writes to the holds over the one link that it gets. Only `extended` means that the server
        // has written; `refused` means that a hold has ended.
        std::function<boost::asio::awaitable<renewal::outcome>(topology&)> write;
    };
    // Throws errc::not_durable, errc::lost, errc::unsupported, or as `throw_if_error`.
    boost::asio::awaitable<void> wait(const request& requested);

    boost::asio::awaitable<void> close(time_point give_up_at) {
        return servers_->close(give_up_at);
    }
    void forget_listener() noexcept { servers_->forget_listener(); }

private:
    class attempt;

    void on_message(std::string_view, std::string_view) override {}
    void on_invalidate(std::string_view) override {}
    void on_connected(const link&) override {}

    const backend_context context_;
    const limits bounds_;
    const std::shared_ptr<topology> servers_;
    // The requests for one server take turns: each link is a name in this room.
    core::waiting_room turns_;
};

}  // namespace pawl::redis
