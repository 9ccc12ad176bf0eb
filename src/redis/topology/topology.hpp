// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers of a service, and which of them has a key. The code of locks and latches asks before
// each request, so its requests follow a key that moves to another server.
#pragma once

#include "../transport/link.hpp"

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

    // Call this before the listener is destroyed. After all links are closed, any thread may call
    // it.
    void forget_listener() noexcept {
        for (auto* each : links())
            each->forget_listener();
    }
};

// Every connection to every server subscribes to `channel`, as in link_factory.
using topology_factory =
    std::function<std::shared_ptr<topology>(link::listener& receiver, const std::string& channel)>;

}  // namespace pawl::redis
