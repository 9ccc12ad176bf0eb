// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A backend that grants nothing and knows nothing, for tests of the core.
#pragma once

#include <pawl/spi/backend.hpp>

namespace pawl::simulation {

class idle_backend : public backend {
public:
    boost::asio::awaitable<std::optional<grant>> acquire(const claim&, time_point) override {
        co_return std::nullopt;
    }
    boost::asio::awaitable<void> renew(renewal_batch&) override { co_return; }
    boost::asio::awaitable<release_result> release(const hold&) override {
        co_return release_result::unknown;
    }
    boost::asio::awaitable<lock_info> inspect(std::string_view) override { co_return lock_info{}; }
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view) override {
        co_return std::vector<lock_info>{};
    }
    boost::asio::awaitable<bool> force_release(std::string_view) override { co_return false; }
    boost::asio::awaitable<examination> examine() override { co_return examination{}; }
    boost::asio::awaitable<void> close(time_point) override { co_return; }
    [[nodiscard]] pawl::capabilities capabilities() const noexcept override { return {}; }
};

}  // namespace pawl::simulation
