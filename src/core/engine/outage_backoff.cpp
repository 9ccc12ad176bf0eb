// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "outage_backoff.hpp"

#include "../util/random.hpp"
#include "../util/transient.hpp"

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::core {
namespace {

// The longest delay between the service's return and the next attempt.
constexpr auto longest_pause = 1s;

}  // namespace

asio::awaitable<void> outage_backoff::wait_or_throw(error failure, bool also_unavailable) {
    const auto now = time_.now();
    const bool may_pass =
        failure.reason() == errc::unreachable || (also_unavailable && is_unavailable(failure));
    if (!may_pass || now >= give_up_at_) throw failure;
    notice_.report(failure.what());
    const auto pause = random_between(time_, next_pause_ / 2, next_pause_);
    next_pause_ = std::min<duration>(next_pause_ * 2, longest_pause);
    co_await timer_.wait_until(std::min(give_up_at_, now + pause));
}

}  // namespace pawl::core
