// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The faults that a test has chosen for a memory service.
#pragma once

#include <pawl/error.hpp>
#include <pawl/types.hpp>

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pawl::core {
class wakeup;
}

namespace pawl::memory {

struct session;

// Thread-safe.
class request_gate {
public:
    void fail(errc reason);
    void delay(duration by);
    // Also for the requests that are delayed now: they are answered at once.
    void recover();

    // Waits for the delay, and throws if the service fails then, or has not answered by
    // `give_up_at`.
    boost::asio::awaitable<void> pass(std::shared_ptr<session> client,
                                      time_point give_up_at = time_point::max());
    // As backend::unreachable_reason.
    [[nodiscard]] std::string unreachable_reason() const;

private:
    struct delayed_request {
        std::weak_ptr<session> client;
        std::weak_ptr<core::wakeup> wakeup;  // used on the client's strand
    };

    [[nodiscard]] std::optional<errc> failure() const;

    mutable std::mutex mutex_;
    std::optional<errc> failure_;
    duration delay_{};
    std::vector<delayed_request> delayed_;
};

}  // namespace pawl::memory
