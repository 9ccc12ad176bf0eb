// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "request_gate.hpp"

#include "lock_store.hpp"

#include <pawl/testing.hpp>

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::memory {
namespace {

constexpr auto is_down = "the test has made the service unreachable";

[[noreturn]] void throw_failure(errc reason) {
    if (reason == errc::unreachable)
        throw error(reason, std::string("The service did not answer: ") + is_down + ".");
    throw error(reason, reason == errc::refused
                            ? "The service refuses this client: the test has chosen that."
                            : "The service cannot serve anybody now: the test has chosen that.");
}

}  // namespace

void request_gate::fail(errc reason) {
    if (reason != errc::unreachable && reason != errc::unavailable && reason != errc::refused)
        throw error(errc::bad_option,
                    "A service for tests cannot fail with this code; use errc::unreachable, "
                    "errc::unavailable or errc::refused.");
    const std::lock_guard lock(mutex_);
    failure_ = reason;
}

void request_gate::delay(duration by) {
    if (by < duration::zero() || by > testing::longest_step)
        throw error(errc::bad_option, "The delay is out of range; it must be 0 to 365 days.");
    const std::lock_guard lock(mutex_);
    delay_ = by;
}

void request_gate::recover() {
    const std::lock_guard lock(mutex_);
    failure_.reset();
    delay_ = {};
    for (auto& each : delayed_)
        if (const auto client = each.client.lock())
            client->post([weak = std::move(each.wakeup)] {
                if (const auto wakeup = weak.lock()) wakeup->notify();
            });
    delayed_.clear();
}

asio::awaitable<void> request_gate::pass(std::shared_ptr<session> client, time_point give_up_at) {
    const auto wakeup = std::make_shared<core::wakeup>(*client->time, client->strand);
    duration wait{};
    {
        const std::lock_guard lock(mutex_);
        wait = delay_;
        if (wait > duration::zero()) {
            std::erase_if(delayed_, [](const auto& each) { return each.wakeup.expired(); });
            delayed_.push_back({client, wakeup});
        }
    }
    if (wait > duration::zero()) {
        const auto answered_at = client->time->now() + wait;
        const bool is_released = co_await wakeup->wait_until(std::min(answered_at, give_up_at));
        if (!is_released && answered_at > give_up_at)
            throw error(errc::unreachable,
                        "The service did not answer in time: the test has "
                        "delayed its answers.");
    }
    if (const auto reason = failure()) throw_failure(*reason);
}

std::optional<errc> request_gate::failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
}

std::string request_gate::unreachable_reason() const {
    return failure() == errc::unreachable ? is_down : std::string();
}

}  // namespace pawl::memory
