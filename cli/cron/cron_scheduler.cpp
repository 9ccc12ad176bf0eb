// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cron_scheduler.hpp"

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../ui/host_name.hpp"
#include "../ui/messages.hpp"
#include "cron_job.hpp"
#include "marked_job.hpp"
#include "tick_mark.hpp"

#include <pawl/blocking.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <iostream>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;
using action = guard::schedule_watch::action;

// More commands than these do not run at the same time; other hosts may run them.
constexpr std::size_t most_jobs = 64;
constexpr duration busy_pause = 1s;
constexpr duration conflict_pause = 50ms;
constexpr duration purge_interval = 1h;
constexpr duration keep = 24h * 30;

// The session of its own keeps the signals of a terminal away.
void become_job(const sigset_t& signals) {
    ::setsid();
    ::sigprocmask(SIG_SETMASK, &signals, nullptr);
    const descriptor null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
    ::dup2(null_device.get(), STDIN_FILENO);
}

}  // namespace

cron_scheduler::cron_scheduler(const std::vector<cron_line>& lines,
                               const service_location& location, bool verbose)
    : location_(location), verbose_(verbose), local_(lines) {
    never_block_on_stderr();
    if (keeps_records(location)) store_.emplace(location);
    const auto host = host_name();
    for (const auto& line : lines)
        schedules_.push_back(
            {&line, guard::schedule_watch(line.name, line.schedule, line.options, host)});
}

int cron_scheduler::run() {
    if (!store_) refuse_without_records();
    if (const int status = verify_locks(); status != 0) return status;
    if (store_)
        prepare_records();
    else
        say(location_.lock_service.describe() +
            " keeps no records: this host's clock decides when a tick is due, and there is no "
            "history.");
    while (!is_stopping_ || !running_.empty()) {
        if (boot_clock::now() >= retry_at_) {
            renew_running();
            look_at_all();
        }
        const auto wakeup = next_wakeup();
        handle_signals(
            events_.wait(say_kept() ? wakeup : std::min(wakeup, boot_clock::now() + busy_pause)));
        reap();
    }
    return 0;
}

guard::tick_records& cron_scheduler::ticks() {
    if (store_) return store_->records();
    return local_;
}

void cron_scheduler::close_records() noexcept {
    if (store_) store_->close();
}

void cron_scheduler::refuse_without_records() const {
    for (const auto& schedule : schedules_)
        if (schedule.line->options.attempts > 1)
            throw failure(exit_code::config,
                          "The option attempts of '" + schedule.line->name +
                              "' needs records of the ticks, which " +
                              location_.lock_service.describe() +
                              " does not keep; leave it out, or name a SQL database with --on.");
}

// The longest mark of all.
void cron_scheduler::try_mark(blocking::client& locks) const {
    const auto longest = std::ranges::max_element(
        schedules_, {}, [](const auto& each) { return mark_length(each.line->options); });
    const auto& line = *longest->line;
    try {
        auto mark =
            locks.try_acquire(line.name + "@", {.ttl = mark_length(line.options), .fenced = false});
        if (mark) static_cast<void>(mark.release());
    } catch (const error& problem) {
        if (problem.reason() != errc::bad_option) throw;
        throw failure(exit_code::config,
                      "Without records, the mark of a tick is a lock for twice the time of late: " +
                          format_exact(mark_length(line.options)) + " for '" + line.name + "'. " +
                          problem.what() + " Give a shorter late, or another option of the URL.");
    }
}

// In a process of its own: the library has threads, and this process forks.
int cron_scheduler::try_locks() const {
    return call_in_child(events_.original_mask(), [this] {
        blocking::client locks(location_.lock_service);
        static_cast<void>(locks.inspect(schedules_.front().line->name));
        if (!store_) try_mark(locks);
        return 0;
    });
}

// A mistake ends this process at once; a service that is away is waited for.
int cron_scheduler::verify_locks() {
    while (!is_stopping_) {
        const int status = try_locks();
        if (status != static_cast<int>(exit_code::unreachable)) return status;
        retry_at_ = boot_clock::now() + pauses_.next();
        while (!is_stopping_ && boot_clock::now() < retry_at_)
            handle_signals(events_.wait(retry_at_));
    }
    return 0;
}

// A table that this user may not make is an error at once; an absent database is waited for.
void cron_scheduler::prepare_records() {
    while (!is_stopping_) {
        try {
            store_->make_schema();
            return;
        } catch (const guard::conflict& problem) {
            note_outage(problem);
        } catch (const guard::database_error& problem) {
            if (!problem.is_connection_lost())
                throw failure(exit_code::refused,
                              std::string("The table of the ticks cannot be made: ") +
                                  problem.what() +
                                  "; let an administrator run the output of `pawl cron "
                                  "--schema --on URL`, and grant this user SELECT, INSERT, "
                                  "UPDATE and DELETE on pawl_tick.");
            note_outage(problem);
        }
        while (!is_stopping_ && boot_clock::now() < retry_at_)
            handle_signals(events_.wait(retry_at_));
    }
}

void cron_scheduler::look_at_all() {
    note_progress();
    for (auto& schedule : schedules_) {
        if (is_stopping_ || schedule.next_look > boot_clock::now()) continue;
        try {
            look_at(schedule);
        } catch (const guard::conflict&) {
            schedule.next_look = boot_clock::now() + conflict_pause;
        } catch (const std::exception& problem) {
            return note_outage(problem);
        }
        if (std::exchange(is_away_, false)) say("The records can be reached again.");
        pauses_.reset();
    }
}

void cron_scheduler::look_at(watched_schedule& schedule) {
    if (running_.size() >= most_jobs) {
        schedule.next_look = boot_clock::now() + busy_pause;
        return;
    }
    const auto decision = schedule.watch.advance(ticks());
    const auto now = boot_clock::now();
    schedule.next_look = now + decision.pause;
    if (now >= schedule.next_purge) {
        schedule.next_purge = now + purge_interval;
        ticks().purge(schedule.line->name, keep);
    }
    if (decision.next != action::wait) start(schedule, decision);
}

void cron_scheduler::start(watched_schedule& schedule,
                           const guard::schedule_watch::decision& decision) {
    close_records();
    auto progress = std::make_shared<job_progress>();
    const pid_t job = ::fork();
    if (job < 0) {
        say("Cannot start a process for '" + decision.claim.name + "'; another host may run it.");
        if (!store_) local_.reopen(decision.claim, busy_pause);
        return;
    }
    if (job == 0) {
        become_job(events_.original_mask());
        const auto name = schedule.watch.lock_name(decision.claim);
        const int status =
            store_ ? run_cron_job(*schedule.line, decision, name, location_, verbose_, *progress)
                   : run_marked_job(*schedule.line, decision, location_, verbose_, *progress);
        say_rest();
        ::_exit(status);
    }
    running_.emplace(
        job, running_job{&schedule, decision.claim, boot_clock::now(), std::move(progress)});
}

// Without records, a tick that has begun does not hold back the next one, which waits for its lock.
void cron_scheduler::note_progress() {
    if (store_) return;
    for (const auto& [job, running] : running_)
        if (running.progress->get() != job_stage::waiting) local_.settle(running.claim);
}

// Those that wait for their lock. From then on they cannot begin, so no command gets this signal.
void cron_scheduler::cancel_waiting() {
    for (const auto& [job, running] : running_)
        if (running.progress->advance(job_stage::cancelled)) ::kill(job, SIGTERM);
}

// A sign of life for other hosts; the lock decides whether the work runs.
void cron_scheduler::renew_running() {
    try {
        for (auto& [job, running] : running_) {
            if (running.next_renewal > boot_clock::now()) continue;
            const duration ttl = running.schedule->line->options.ttl;
            ticks().renew(running.claim, ttl);
            running.next_renewal = boot_clock::now() + ttl / 3;
        }
    } catch (const std::exception& problem) {
        note_outage(problem);
    }
}

void cron_scheduler::reap() {
    int status = 0;
    while (const pid_t ended = ::waitpid(-1, &status, WNOHANG)) {
        if (ended < 0) return;
        const auto job = running_.find(ended);
        if (job == running_.end()) continue;
        const auto& [schedule, claim, renewal, progress] = job->second;
        if (!store_ && progress->get() == job_stage::waiting)
            local_.reopen(claim, busy_pause);
        else if (!store_)
            local_.settle(claim);
        // A tick that waits for the end of this one can begin.
        schedule->next_look = {};
        running_.erase(job);
    }
}

void cron_scheduler::handle_signals(const event_batch& batch) {
    for (const int signal : batch.signals) {
        if (signal == SIGTSTP) stop_self();
        if (!is_termination_signal(signal)) continue;
        for (const auto& [job, running] : running_)
            if (is_stopping_) ::kill(job, signal);
        const bool is_first = !std::exchange(is_stopping_, true);
        if (is_first) cancel_waiting();
        if (is_first && !running_.empty())
            say("No command begins any more. Waits for the end of " +
                std::to_string(running_.size()) + "; a second signal is passed on to them.");
    }
}

void cron_scheduler::note_outage(const std::exception& problem) {
    close_records();
    retry_at_ = boot_clock::now() + pauses_.next();
    if (!std::exchange(is_away_, true))
        say(std::string("The records cannot be reached: ") + problem.what() + " Tries again.");
}

time_point cron_scheduler::next_wakeup() const {
    auto wakeup = time_point::max();
    for (const auto& [job, running] : running_)
        wakeup = std::min(wakeup, running.next_renewal);
    for (const auto& schedule : schedules_)
        if (!is_stopping_) wakeup = std::min(wakeup, schedule.next_look);
    return std::max(wakeup, retry_at_);
}

}  // namespace pawl::cli
