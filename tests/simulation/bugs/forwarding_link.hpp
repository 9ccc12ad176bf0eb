// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A link over another one, for bugs that change requests or answers.
#pragma once

#include <redis/transport/link.hpp>

#include <memory>
#include <utility>

namespace pawl::simulation {

class forwarding_link : public redis::link {
public:
    const redis::session& current() const noexcept override { return actual_->current(); }
    bool connected() const noexcept override { return actual_->connected(); }
    boost::asio::awaitable<void> close(time_point give_up_at) override {
        return actual_->close(give_up_at);
    }
    void forget_listener() noexcept override { actual_->forget_listener(); }

protected:
    explicit forwarding_link(std::shared_ptr<redis::link> actual) : actual_(std::move(actual)) {}

    const std::shared_ptr<redis::link> actual_;
};

}  // namespace pawl::simulation
