// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "host_look_up.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>

#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;

namespace pawl::redis {

void host_look_up::begin(std::shared_ptr<void> owner, const net::endpoint& server,
                         result_handler on_resolved) {
    if (is_running()) return;
    auto started = std::make_shared<net::name_look_up>(strand_, server.host);
    running_ = started;
    failure_ = {};
    asio::co_spawn(strand_,
                   run(std::move(owner), std::move(started), server.port, std::move(on_resolved)),
                   asio::detached);
}

asio::awaitable<void> host_look_up::run([[maybe_unused]] std::shared_ptr<void> owner,
                                        std::shared_ptr<net::name_look_up> started,
                                        std::uint16_t port, result_handler on_resolved) {
    net::addresses resolved;
    error_code failure_code;
    try {
        failure_code = co_await started->wait(port, resolved);
    } catch (const std::exception&) {
        failure_code = asio::error::no_memory;
    }
    const bool is_current = running_.lock() == started;
    started.reset();
    if (!is_stopped_ && is_current) {
        failure_ = failure_code;
        if (!failure_code) on_resolved(std::move(resolved));
    }
    ended_.notify();
}

void host_look_up::forget() noexcept {
    failure_ = {};
    if (const auto running = running_.lock()) running->cancel();
    running_.reset();
}

void host_look_up::stop() {
    is_stopped_ = true;
    ended_.notify();
    if (const auto running = running_.lock()) running->cancel();
}

}  // namespace pawl::redis
