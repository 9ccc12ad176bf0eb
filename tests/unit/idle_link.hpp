// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A link for tests of decisions: no request is sent over it.
#pragma once

#include <redis/transport/link.hpp>

namespace pawl {

class idle_link final : public redis::link {
public:
    boost::asio::awaitable<redis::reply> exec(std::span<const std::string_view>, time_point,
                                              redis::prelude) override {
        throw redis::connection_lost("there is no server");
    }
    const redis::session& current() const noexcept override { return session; }
    bool connected() const noexcept override { return is_up; }
    boost::asio::awaitable<void> close(time_point) override { co_return; }

    redis::session session;
    bool is_up = true;
};

}  // namespace pawl
