// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The time and the random numbers of one simulated program.
#pragma once

#include "core/util/spi.hpp"
#include "prng.hpp"
#include "simulated_process.hpp"

namespace pawl::simulation {

// Must outlive its timers.
class virtual_runtime final : public runtime {
public:
    virtual_runtime(simulated_process& process, prng random) : process_(process), random_(random) {}

    time_point now() const noexcept override { return process_.now(); }
    std::chrono::system_clock::time_point wall_clock() const noexcept override;
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor& executor) override;
    void random(std::span<std::byte> fill) override;
    bool is_real_time() const noexcept override { return false; }
    // Each callback runs on its own thread, which is busy while the callback blocks.
    void notify_losses(std::list<std::stop_source> lost) noexcept override;

    // For the callback of a loss: the callback blocks for this time.
    void block_callback(instant time) { callback_blocked_until_ = process_.loop().now() + time; }
    // Injects a bug: all callbacks run on one thread, one after the other.
    void use_one_thread() { one_thread_ = true; }
    // Injects a bug: a timer that cannot be created never completes.
    void use_lost_timers() { uses_lost_timers_ = true; }

    // The number of timers with a pending wait.
    [[nodiscard]] std::size_t pending_timers() const noexcept { return pending_timers_; }

private:
    class virtual_timer;
    class lost_timer;

    simulated_process& process_;
    prng random_;
    std::size_t pending_timers_ = 0;
    bool one_thread_ = false;
    bool uses_lost_timers_ = false;
    instant callback_blocked_until_{};
};

}  // namespace pawl::simulation
