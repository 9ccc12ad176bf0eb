// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Waits until replicas, or the append-only file, have the holds of a grant. The requests use
// connections of their own, because WAIT blocks its connection: the renewals of other holds must
// not stand behind it.
#pragma once

#include "../../core/engine/waiting_room.hpp"
#include "../topology/separate_servers.hpp"
#include "core/util/spi.hpp"
#include "limits.hpp"

#include <pawl/durability.hpp>

#include <functional>
#include <memory>
#include <string>

namespace pawl::redis {

// Used on one strand, except for the destructor, which any thread may call after `close`.
class acknowledgements final {
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
    boost::asio::awaitable<void> wait(const request& wanted);

    boost::asio::awaitable<void> close(time_point give_up_at) {
        return servers_->close(give_up_at);
    }

private:
    class attempt;

    const backend_context context_;
    const limits bounds_;
    const separate_servers servers_;
    // The requests for one server take turns: each link is a name in this room.
    core::waiting_room turns_;
};

}  // namespace pawl::redis
