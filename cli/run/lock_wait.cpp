// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The part of the supervisor that waits for the lock, until the command starts.
#include "../ui/failure.hpp"
#include "lock_messages.hpp"
#include "supervisor.hpp"

#include <algorithm>
#include <csignal>

namespace pawl::cli {

// The command has not started, so a termination signal that arrives together with the grant ends
// this process.
bool supervisor::wait_for_lock() {
    auto until = time_point::max();
    while (true) {
        const auto batch = events_.wait(until);
        for (const int signal : batch.signals) {
            if (signal == SIGTSTP) stop_self();
            if (!is_termination_signal(signal)) continue;
            // The second signal ends the wait for the undo.
            if (interrupted_ != 0) return false;
            interrupted_ = signal;
            status_ = signal_status(signal);
            until = boot_clock::now() + leave_timeout;
            send_request(supervisor_request::cancel);
        }
        for (const lock_report& report : batch.reports) {
            if (report.event == lock_report::kind::failed) {
                const bool may_run = handle_failure(report);
                wait_until_queue_is_left(std::min(until, boot_clock::now() + leave_timeout));
                return may_run;
            }
            handle_early_report(report);
        }
        // Set by the grant: see handle_early_report.
        if (reached_service_) {
            if (interrupted_ == 0) return true;
            release_lock();
            return false;
        }
        if (interrupted_ != 0 && boot_clock::now() >= until) return false;
        if (!events_.lock_process_ended()) continue;
        if (interrupted_ == 0)
            throw failure(exit_code::system,
                          "The process that waits for the lock has ended; find out what killed it, "
                          "and try again.");
        return false;
    }
}

bool supervisor::handle_failure(const lock_report& report) {
    reached_service_ = report.reached_service;
    if (interrupted_ != 0) return false;
    const auto code = code_for(report.reason);
    const bool busy = code == exit_code::timed_out;
    if (!busy || !options_.quiet) say(report.text.data());
    status_ = busy ? options_.busy_exit : static_cast<int>(code);
    // A reply that the library does not understand has the same exit status, but waiting does not
    // help.
    service_unavailable_ = report.reason == errc::unreachable ||
                           report.reason == errc::unavailable || report.reason == errc::no_quorum ||
                           report.reason == errc::not_durable || report.reason == errc::no_set;
    return false;
}

void supervisor::wait_until_queue_is_left(time_point until) {
    while (!events_.lock_process_ended() && boot_clock::now() < until)
        note_interrupts(events_.wait(until));
    if (interrupted_ == 0) return;
    status_ = signal_status(interrupted_);
    service_unavailable_ = false;  // `elect` must not stand again
}

// The loss may arrive together with the grant if this process was stopped meanwhile.
void supervisor::handle_early_report(const lock_report& report) {
    if (report.event == lock_report::kind::lost)
        handle_early_loss(report.loss_cause, report.text.data());
    if (report.event != lock_report::kind::granted) return;
    acquired_at_ = boot_clock::now();
    reached_service_ = true;
}

void supervisor::handle_early_loss(loss_reason reason, std::string_view lock_name) {
    if (!lock_lost_ && interrupted_ == 0)
        say(loss_message(options_, reason, lock_name, "the command was not started"));
    lock_lost_ = true;
}

void supervisor::note_interrupts(const event_batch& batch) {
    for (const int signal : batch.signals) {
        if (signal == SIGTSTP) stop_self();
        if (is_termination_signal(signal)) interrupted_ = signal;
    }
}

// Called directly before the command starts, because this process may have been stopped at any time
// since the grant.
bool supervisor::may_start() {
    for (bool more = true; more;) {
        const auto batch = events_.wait(boot_clock::now());
        more = !batch.signals.empty();
        note_interrupts(batch);
        for (const lock_report& report : batch.reports)
            handle_early_report(report);
    }
    if (interrupted_ != 0) return false;
    if (!lock_lost_ && events_.lock_process_ended()) handle_early_loss(loss_reason::none);
    if (!lock_lost_ && is_time_to_terminate()) handle_early_loss(ending_reason());
    return !lock_lost_;
}

}  // namespace pawl::cli
