// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "loss_watchdog.hpp"

#include "../util/exhausted.hpp"
#include "../util/loss_notifier.hpp"
#include "../util/start_thread.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

namespace pawl::core {
namespace {

std::atomic<loss_watchdog*> current_watchdog{nullptr};
std::mutex watchdog_creation;

// The child of a fork has the list of leases but not the thread, so it starts with neither. The
// mutex is held during the fork, so the child does not copy it while another thread holds it.
const int survives_forks =
    ::pthread_atfork([] { watchdog_creation.lock(); }, [] { watchdog_creation.unlock(); },
                     [] {
                         current_watchdog.store(nullptr);
                         watchdog_creation.unlock();
                     });

}  // namespace

loss_watchdog& loss_watchdog::instance() {
    if (auto* watchdog = current_watchdog.load(std::memory_order_acquire)) return *watchdog;
    const std::lock_guard lock(watchdog_creation);
    if (auto* watchdog = current_watchdog.load(std::memory_order_acquire)) return *watchdog;
    auto* watchdog = new loss_watchdog;  // never destroyed: its thread runs until the process ends
    current_watchdog.store(watchdog, std::memory_order_release);
    return *watchdog;
}

void loss_watchdog::prepare() {
    (void)instance();
    loss_notifier::instance().prepare();
}

loss_watchdog::loss_watchdog() {
    timer_ = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (timer_ < 0)
        throw exhausted("There is no timer for watching leases",
                        std::system_category().message(errno));
    try {
        start_thread("watching leases", [this] { run(); }).detach();
    } catch (...) {
        ::close(timer_);
        throw;
    }
}

void loss_watchdog::watch(watched_hold& hold) noexcept {
    const auto report_at = hold.report_at();
    const std::lock_guard lock(mutex_);
    hold.is_watched_ = true;
    hold.next_ = first_;
    hold.previous_ = nullptr;
    if (first_ != nullptr) first_->previous_ = &hold;
    first_ = &hold;
    if (report_at && *report_at < next_check_) plan(*report_at);
}

void loss_watchdog::forget(watched_hold& hold) noexcept {
    const std::lock_guard lock(mutex_);
    if (!hold.is_watched_) return;
    hold.is_watched_ = false;
    (hold.previous_ != nullptr ? hold.previous_->next_ : first_) = hold.next_;
    if (hold.next_ != nullptr) hold.next_->previous_ = hold.previous_;
}

// Called under the mutex. The thread is not woken: it would compete for the processor with the
// caller.
void loss_watchdog::plan(time_point when) noexcept {
    next_check_ = when;
    itimerspec timer_setting{};
    if (when != time_point::max()) {
        const auto ns = when.time_since_epoch().count();
        timer_setting.it_value.tv_sec = ns / 1'000'000'000;
        timer_setting.it_value.tv_nsec = ns % 1'000'000'000;
    }
    ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &timer_setting, nullptr);
}

void loss_watchdog::run() {
    for (;;) {
        check_deadlines();
        pollfd wait{timer_, POLLIN, 0};
        ::poll(&wait, 1, -1);
        std::uint64_t ticks = 0;
        [[maybe_unused]] const auto read = ::read(timer_, &ticks, sizeof ticks);
    }
}

// The mutex keeps every hold in the list alive. This function takes no reference: the last
// reference to a lease, and with it to its client, must not be released on this thread.
void loss_watchdog::check_deadlines() noexcept {
    const std::lock_guard lock(mutex_);
    const auto now = boot_clock::now();
    auto earliest = time_point::max();
    for (auto* hold = first_; hold != nullptr; hold = hold->next_) {
        const auto report_at = hold->report_at();
        if (!report_at) continue;
        if (*report_at > now)
            earliest = std::min(earliest, *report_at);
        else
            hold->lose_at_deadline();
    }
    plan(earliest);
}

}  // namespace pawl::core
