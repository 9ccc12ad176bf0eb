// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers of a service, and which of them has a key. The code of locks and latches asks before
// each request, so its requests follow a key that moves to another server.
#pragma once

#include "../transport/link.hpp"

#include <pawl/examination.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace pawl::redis {

// Used on one strand, except for `forget_listener`.
class topology {
public:
    virtual ~topology() = default;

    // The link to the server that has the key at present. Everything in one request must come from
    // this link: the server's run id and clock, and the number of the connection.
    [[nodiscard]] virtual link& link_of(std::string_view key) const noexcept = 0;
    // Every link lives as long as the topology. A new link is appended, so an index stays valid.
    [[nodiscard]] virtual std::span<link* const> links() const noexcept = 0;

    // Closes every link, in turn: closing them at the same time would need memory. The other links
    // receive their replies meanwhile.
    virtual boost::asio::awaitable<void> close(time_point give_up_at);
    // Adds what else than the servers themselves is worth knowing, for `examine`.
    virtual void add_findings(examination&) const {}

    // Call this before the listener is destroyed. After all links are closed, any thread may call
    // it.
    void forget_listener() noexcept {
        for (auto* each : links())
            each->forget_listener();
    }
};

inline boost::asio::awaitable<void> topology::close(time_point give_up_at) {
    // Links may be appended meanwhile.
    for (std::size_t i = 0; i < links().size(); ++i)
        co_await links()[i]->close(give_up_at);
}

// Every connection to every server subscribes to `channel`, as in link_factory.
using topology_factory =
    std::function<std::shared_ptr<topology>(link::listener& receiver, const std::string& channel)>;

}  // namespace pawl::redis
