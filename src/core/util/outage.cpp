// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "outage.hpp"

#include <algorithm>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::core {

asio::awaitable<void> outage::pause(const error& failure, time_point give_up_at) {
    report(failure.what());
    auto until = time_.now() + pauses_.next_pause();
    if (const auto retry_at = failure.retry_at()) until = std::max(until, *retry_at);
    co_await timer_.wait_until(std::min(give_up_at, until));
}

// Tools recognise the lines by their beginning.
void outage::report(std::string_view reason) {
    const auto now = time_.now();
    if (!log_ || now < silent_until_) return;
    silent_until_ = now + 1min;
    log_("Waiting for the service: " + std::string(reason));
}

}  // namespace pawl::core
