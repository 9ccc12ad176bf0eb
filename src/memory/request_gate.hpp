// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The faults that a test has chosen for a memory service.
#pragma once

#include <pawl/error.hpp>
#include <pawl/spi/runtime.hpp>

#include <boost/asio/awaitable.hpp>

#include <mutex>
#include <optional>
#include <string>

namespace pawl::memory {

// Thread-safe.
class request_gate {
public:
    void fail(errc reason);
    void delay(duration by);
    void recover();

    // Waits for the delay, and throws if the service fails then, or has not answered by
    // `give_up_at`.
    boost::asio::awaitable<void> pass(runtime& time, boost::asio::any_io_executor strand,
                                      time_point give_up_at = time_point::max()) const;
    // As backend::unreachable_reason.
    [[nodiscard]] std::string unreachable_reason() const;

private:
    [[nodiscard]] std::optional<errc> failure() const;

    mutable std::mutex mutex_;
    std::optional<errc> failure_;
    duration delay_{};
};

}  // namespace pawl::memory
