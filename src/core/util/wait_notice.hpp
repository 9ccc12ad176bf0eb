// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The lines in the log about a wait during which the service is away or unavailable.
#pragma once

#include <pawl/spi/runtime.hpp>

#include <functional>
#include <string>
#include <string_view>

namespace pawl::core {

// The notices of one wait: the reason at once, and again every minute. Tools recognise the lines by
// their beginning.
class wait_notice {
public:
    using logger = std::function<void(std::string_view)>;

    // Both arguments must outlive the object; `log` may be empty.
    wait_notice(runtime& time, const logger& log) noexcept : time_(time), log_(log) {}

    void report(std::string_view reason) {
        const auto now = time_.now();
        if (!log_ || now < silent_until_) return;
        silent_until_ = now + std::chrono::minutes(1);
        log_("Waiting for the service: " + std::string(reason));
    }

private:
    runtime& time_;
    const logger& log_;
    time_point silent_until_ = time_point::min();
};

}  // namespace pawl::core
