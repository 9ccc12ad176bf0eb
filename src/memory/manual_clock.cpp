// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "core/util/spi.hpp"

#include <pawl/testing.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <mutex>
#include <set>
#include <utility>

namespace asio = boost::asio;

namespace pawl::testing {

class manual_clock::clock_runtime final : public runtime {
public:
    time_point now() const noexcept override {
        const std::lock_guard lock(mutex_);
        return now_;
    }
    std::chrono::system_clock::time_point wall_clock() const noexcept override {
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(
                began + now().time_since_epoch()));
    }
    std::unique_ptr<timer> make_timer(const asio::any_io_executor& executor) override {
        return std::make_unique<manual_timer>(*this, executor);
    }
    void random(std::span<std::byte> bytes) override { real_runtime().random(bytes); }
    bool is_real_time() const noexcept override { return false; }

    void advance(duration by) {
        const std::lock_guard lock(mutex_);
        now_ += by;
        for (auto* each : timers_)
            each->expire(now_);
    }

private:
    static constexpr auto began = std::chrono::hours(24 * 365 * 56);  // in 2026

    // Asio keeps the handlers, so that they end with their event loop. Its timer never expires by
    // itself: no program runs for a year.
    struct pending_wait {
        explicit pending_wait(const asio::any_io_executor& executor) : timer(executor) {}
        asio::basic_waitable_timer<boot_clock> timer;
        std::uint64_t number = 0;  // of the present wait
        bool is_over = false;      // the time of the present wait has come
    };

    class manual_timer final : public timer {
    public:
        manual_timer(clock_runtime& clock, const asio::any_io_executor& executor)
            : clock_(clock), wait_(std::make_shared<pending_wait>(executor)) {
            const std::lock_guard lock(clock_.mutex_);
            clock_.timers_.insert(this);
        }
        ~manual_timer() override {
            const std::lock_guard lock(clock_.mutex_);
            clock_.timers_.erase(this);
        }
        void async_wait_until(time_point when, wait_handler handler) override {
            ++wait_->number;
            wait_->is_over = false;
            wait_->timer.expires_at(real_runtime().now() + std::chrono::hours(24 * 365));
            wait_->timer.async_wait(
                [waited = wait_, completion = std::move(handler)](const auto&) mutable {
                    boost::system::error_code result;
                    if (!waited->is_over) result = asio::error::operation_aborted;
                    std::move(completion)(result);
                });
            const std::lock_guard lock(clock_.mutex_);
            when_ = when;
            number_ = wait_->number;
            expire(clock_.now_);
        }
        void cancel() override { wait_->timer.cancel(); }
        // Under the clock's mutex.
        void expire(time_point now) {
            if (when_ > now) return;
            when_ = time_point::max();
            asio::post(wait_->timer.get_executor(), [waited = wait_, number = number_] {
                if (waited->number != number) return;
                waited->is_over = true;
                waited->timer.cancel();
            });
        }

    private:
        clock_runtime& clock_;
        const std::shared_ptr<pending_wait> wait_;
        time_point when_ = time_point::max();  // of the present wait; under the clock's mutex
        std::uint64_t number_ = 0;             // as `wait_->number`, for other threads
    };

    mutable std::mutex mutex_;
    time_point now_{std::chrono::hours(1)};
    std::set<manual_timer*> timers_;
};

manual_clock::manual_clock() : runtime_(std::make_unique<clock_runtime>()) {}
manual_clock::~manual_clock() = default;
runtime* manual_clock::time() noexcept { return runtime_.get(); }
time_point manual_clock::now() const noexcept { return runtime_->now(); }

void manual_clock::advance(duration by) {
    if (by < duration::zero() || by > longest_step)
        throw error(errc::bad_option,
                    "The clock cannot be moved by this time; it must be 0 to 365 days.");
    runtime_->advance(by);
}

}  // namespace pawl::testing
