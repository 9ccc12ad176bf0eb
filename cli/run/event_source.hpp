// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The events of `pawl run`'s supervisor: signals, reports of the lock process, and the time of
// CLOCK_BOOTTIME, which includes suspends. For one thread. The signals are blocked during the
// lifetime.
#pragma once

#include "../ui/descriptor.hpp"
#include "lock_process.hpp"

#include <csignal>
#include <vector>

namespace pawl::cli {

struct event_batch {
    std::vector<lock_report> reports;
    std::vector<int> signals;
};

// Handles a blocked, pending signal now. Returns when this process may continue.
void deliver_pending(int signal) noexcept;
// Stops this process as SIGTSTP does.
void stop_self() noexcept;
[[nodiscard]] bool is_termination_signal(int signal) noexcept;

class event_source {
public:
    event_source();
    ~event_source();
    event_source(const event_source&) = delete;
    event_source& operator=(const event_source&) = delete;

    // Sets the channel of the lock process, whose reports wait() returns from then on.
    void listen_to(int channel) noexcept { channel_ = channel; }
    // The lock process has ended and sends no more reports.
    [[nodiscard]] bool lock_process_ended() const noexcept { return lock_process_ended_; }
    // The signal mask that this process was started with, for the command.
    [[nodiscard]] const sigset_t& original_mask() const noexcept { return original_mask_; }

    // Returns when an event occurs, or at `until`.
    [[nodiscard]] event_batch wait(time_point until);

private:
    void read_reports(event_batch& batch);
    void read_signals(event_batch& batch);

    sigset_t original_mask_{};
    descriptor signals_;
    descriptor timer_;
    int channel_ = -1;
    bool lock_process_ended_ = false;
};

}  // namespace pawl::cli
