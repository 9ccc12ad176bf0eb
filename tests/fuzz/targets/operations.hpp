// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests of a client to the tested server, one after the other.
#pragma once

#include <pawl/spi/backend.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>

namespace fuzz {

class operations : private pawl::spi::loss_listener {
public:
    // t try, w wait, r reader, p permits, s set of locks, n renew, d downgrade, g release, f force,
    // z resize, a adopt; i, l and e each inspect, list and examine. Other letters mean nothing.
    operations(std::unique_ptr<pawl::spi::backend> tested_backend,
               const boost::asio::any_io_executor& strand, pawl::spi::runtime& time,
               std::string letters);
    operations(const operations&) = delete;
    operations& operator=(const operations&) = delete;
    ~operations() override = default;

    [[nodiscard]] bool is_done() const noexcept { return is_done_; }

private:
    void on_loss(std::string_view, pawl::loss_reason) override {}
    void on_possible_loss() override {}

    boost::asio::awaitable<void> run();
    boost::asio::awaitable<void> step(char letter);
    boost::asio::awaitable<void> acquire(pawl::lock_mode mode, pawl::duration wait);
    boost::asio::awaitable<void> inspect_all();
    boost::asio::awaitable<void> change_hold(char letter);
    [[nodiscard]] pawl::spi::claim claim(pawl::lock_mode mode);

    std::unique_ptr<pawl::spi::backend> backend_;
    pawl::spi::runtime& time_;
    std::string letters_;
    pawl::spi::hold held_;
    int claims_ = 0;
    bool is_done_ = false;
};

}  // namespace fuzz
