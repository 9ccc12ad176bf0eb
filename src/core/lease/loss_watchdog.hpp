// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A thread that reports a loss if the event loop is stuck.
#pragma once

#include <pawl/types.hpp>

#include <mutex>
#include <optional>

namespace pawl::core {

// A hold whose loss the watchdog reports if the event loop does not. The watchdog's thread calls
// its functions, so these are thread-safe.
class watched_hold {
public:
    virtual ~watched_hold() = default;
    watched_hold(const watched_hold&) = delete;
    watched_hold& operator=(const watched_hold&) = delete;
    // The time at which the loss is reported. Empty once the hold has ended.
    [[nodiscard]] virtual std::optional<time_point> report_at() const noexcept = 0;
    virtual void lose_at_deadline() noexcept = 0;

protected:
    watched_hold() = default;
    [[nodiscard]] bool is_watched() const noexcept { return is_watched_; }

private:
    friend class loss_watchdog;

    // The watchdog's list, under its mutex.
    watched_hold* next_ = nullptr;
    watched_hold* previous_ = nullptr;
    bool is_watched_ = false;
};

// One object for the process, never destroyed; a fork gets a new one. Thread-safe.
class loss_watchdog {
public:
    static loss_watchdog& instance();
    // Starts the threads that report a loss, before a lock is requested. Throws errc::exhausted.
    static void prepare();

    void watch(watched_hold& hold) noexcept;
    void forget(watched_hold& hold) noexcept;

private:
    loss_watchdog();
    void run();
    void check_deadlines() noexcept;
    void plan(time_point when) noexcept;

    std::mutex mutex_;
    watched_hold* first_ = nullptr;
    time_point next_check_ = time_point::max();
    int timer_ = -1;
};

}  // namespace pawl::core
