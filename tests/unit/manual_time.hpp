// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A clock that the test moves, and timers that fire when the clock reaches their time.
#pragma once

#include "core/util/spi.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

namespace pawl {

// Must outlive its timers. One thread.
class manual_time final : public runtime {
public:
    time_point now() const noexcept override { return now_; }
    std::chrono::system_clock::time_point wall_clock() const noexcept override { return {}; }
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor& executor) override {
        return std::make_unique<manual_timer>(*this, executor);
    }
    void random(std::span<std::byte> fill) override {
        std::fill(fill.begin(), fill.end(), std::byte{});
    }
    bool is_real_time() const noexcept override { return false; }

    void advance(duration step) {
        now_ += step;
        for (auto* each : timers_)
            each->check();
    }

private:
    class manual_timer final : public timer {
    public:
        manual_timer(manual_time& time, boost::asio::any_io_executor executor)
            : time_(time), executor_(std::move(executor)) {
            time_.timers_.insert(this);
        }
        ~manual_timer() override {
            manual_timer::cancel();
            time_.timers_.erase(this);
        }
        void async_wait_until(time_point when, wait_handler completion) override {
            when_ = when;
            completion_ = std::move(completion);
            check();
        }
        void cancel() override { finish(boost::asio::error::operation_aborted); }
        void check() {
            if (when_ <= time_.now_) finish({});
        }

    private:
        void finish(boost::system::error_code result) {
            if (!completion_) return;
            boost::asio::post(executor_,
                              boost::asio::append(std::exchange(completion_, nullptr), result));
        }

        manual_time& time_;
        boost::asio::any_io_executor executor_;
        time_point when_ = time_point::max();
        wait_handler completion_;
    };

    time_point now_{std::chrono::seconds(100)};
    std::set<manual_timer*> timers_;
};

}  // namespace pawl
