// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "virtual_runtime.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <optional>

namespace asio = boost::asio;

namespace pawl::simulation {

class virtual_runtime::virtual_timer final : public timer {
public:
    virtual_timer(virtual_runtime& runtime, asio::any_io_executor executor)
        : runtime_(runtime), executor_(std::move(executor)) {}
    ~virtual_timer() override { cancel(); }

    void async_wait_until(time_point when, wait_handler completion) override {
        const uncounted_allocations uncounted;
        handler_ = std::move(completion);
        ++runtime_.pending_timers_;
        auto& loop = runtime_.process_.loop();
        event_ = loop.schedule_at(runtime_.process_.instant_of(when), [this] { complete({}); });
    }

    void cancel() override {
        if (!handler_) return;
        const uncounted_allocations uncounted;
        runtime_.process_.loop().cancel(event_);
        complete(asio::error::operation_aborted);
    }

private:
    // The event belongs to the scheduler, so it occurs in time even while the program is paused.
    // The posted handler waits in the program.
    void complete(boost::system::error_code error) {
        --runtime_.pending_timers_;
        asio::post(executor_, asio::append(std::exchange(handler_, nullptr), error));
    }

    virtual_runtime& runtime_;
    asio::any_io_executor executor_;
    wait_handler handler_;
    scheduler::event event_{};
};

// A timer that never completes: the injected bug wait_without_timer.
class virtual_runtime::lost_timer final : public timer {
public:
    void async_wait_until(time_point, wait_handler completion) override {
        handler_ = std::move(completion);
    }
    void cancel() override {}

private:
    wait_handler handler_;
};

std::chrono::system_clock::time_point virtual_runtime::wall_clock() const noexcept {
    // 2026-01-01 plus the time of the program's clock.
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::seconds(1767225600) + process_.now().time_since_epoch()));
}

std::unique_ptr<timer> virtual_runtime::make_timer(const asio::any_io_executor& executor) {
    if (uses_lost_timers_ && !process_.resources().has_timers())
        return std::make_unique<lost_timer>();
    process_.resources().require_timers();
    return std::make_unique<virtual_timer>(*this, executor);
}

void virtual_runtime::notify_losses(std::list<std::stop_source> lost) noexcept {
    const uncounted_allocations uncounted;
    auto& loop = process_.loop();
    const bool waits = one_thread_ && callback_blocked_until_ > loop.now();
    loop.schedule_at(waits ? callback_blocked_until_ : loop.now(),
                     [this, lost = std::move(lost)]() mutable {
                         if (one_thread_ && callback_blocked_until_ > process_.loop().now())
                             return notify_losses(std::move(lost));
                         process_.post([lost = std::move(lost)]() mutable {
                             for (auto& source : lost)
                                 source.request_stop();
                         });
                     });
}

void virtual_runtime::random(std::span<std::byte> fill) {
    for (auto& byte : fill)
        byte = static_cast<std::byte>(random_.next());
}

}  // namespace pawl::simulation
