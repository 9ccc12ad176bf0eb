// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A backend that grants nothing and knows nothing, for tests of the core.
#pragma once

#include <pawl/spi/backend.hpp>

namespace support {

class idle_backend : public pawl::spi::backend {
public:
    boost::asio::awaitable<std::optional<pawl::spi::grant>> acquire(const pawl::spi::claim&,
                                                                    pawl::time_point) override {
        co_return std::nullopt;
    }
    boost::asio::awaitable<void> renew(pawl::spi::renewal_batch&) override { co_return; }
    boost::asio::awaitable<pawl::release_result> release(const pawl::spi::hold&) override {
        co_return pawl::release_result::unknown;
    }
    boost::asio::awaitable<pawl::lock_info> inspect(std::string_view) override {
        co_return pawl::lock_info{};
    }
    boost::asio::awaitable<std::vector<pawl::lock_info>> list(std::string_view) override {
        co_return std::vector<pawl::lock_info>{};
    }
    boost::asio::awaitable<bool> force_release(std::string_view, pawl::fencing_token) override {
        co_return false;
    }
    boost::asio::awaitable<pawl::examination> examine() override { co_return pawl::examination{}; }
    boost::asio::awaitable<void> close(pawl::time_point) override { co_return; }
    [[nodiscard]] pawl::spi::capabilities capabilities() const noexcept override { return {}; }
};

}  // namespace support
