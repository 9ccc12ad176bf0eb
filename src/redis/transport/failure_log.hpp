// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which failures of a link are worth a line of the log: an outage has several attempts a second.
#pragma once

#include <pawl/types.hpp>

#include <chrono>
#include <string>

namespace pawl::redis {

// Used on one strand.
class failure_log {
public:
    // A change at once, and a reason that stays every minute.
    [[nodiscard]] bool is_due(const std::string& reason, time_point now) const {
        return reason != last_reason_ || now >= logged_at_ + interval;
    }
    // The line was written.
    void add(const std::string& reason, time_point now) {
        last_reason_ = reason;
        logged_at_ = now;
    }
    // The link is connected: the next failure is a change.
    void clear() noexcept { last_reason_.clear(); }

private:
    static constexpr duration interval = std::chrono::seconds(60);

    std::string last_reason_;  // since the last connection; empty: none
    time_point logged_at_{};
};

}  // namespace pawl::redis
