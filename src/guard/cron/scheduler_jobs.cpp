// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scheduler_jobs.hpp"

#include <pawl/error.hpp>
#include <pawl/spi/runtime.hpp>

#include <algorithm>
#include <utility>

namespace pawl::guard {
namespace {

using namespace std::chrono_literals;
using action = schedule_watch::action;

}  // namespace

void scheduler_jobs::log(const std::string& line) const {
    if (options_.log) options_.log(line);
}

void scheduler_jobs::start(watched_schedule& schedule, const schedule_watch::decision& decision,
                           const std::stop_token& stop) {
    const std::scoped_lock guard(mutex_);
    forget_ended();
    auto& job = jobs_.emplace_back(running_job{schedule, decision});
    try {
        job.thread = std::jthread([this, &job, stop] {
            run(job, stop);
            end(job);
        });
    } catch (...) {
        jobs_.pop_back();
        throw;
    }
}

void scheduler_jobs::end(running_job& job) {
    const std::scoped_lock guard(mutex_);
    job.has_ended = true;
    ended_.insert(job.decision.claim.name);
    changed_.notify_all();
}

// Joins threads that have nothing left to do.
void scheduler_jobs::forget_ended() {
    std::erase_if(jobs_, [](const running_job& job) { return job.has_ended; });
}

bool scheduler_jobs::take_ended(const std::string& name) {
    const std::scoped_lock guard(mutex_);
    return ended_.erase(name) > 0;
}

void scheduler_jobs::wait(const std::stop_token& stop, duration longest) {
    if (options_.pause) return options_.pause(longest);
    std::unique_lock guard(mutex_);
    changed_.wait_for(guard, stop, longest, [this] { return !ended_.empty(); });
}

// A second wait for the stop token would end at once.
void scheduler_jobs::finish(const std::stop_token& /*stop*/) {
    while (true) {
        const auto pause = std::min<duration>(renew(), 1s);
        std::unique_lock guard(mutex_);
        forget_ended();
        if (jobs_.empty()) return;
        ended_.clear();
        changed_.wait_for(guard, pause, [this] { return !ended_.empty(); });
    }
}

duration scheduler_jobs::renew() {
    const auto now = spi::real_runtime().now();
    duration pause = forever;
    std::vector<std::pair<tick_claim, duration>> due;
    {
        const std::scoped_lock guard(mutex_);
        for (auto& job : jobs_) {
            const duration ttl = job.schedule.watch.options().ttl;
            if (job.has_ended) continue;
            if (job.next_renewal <= now) {
                due.emplace_back(job.decision.claim, ttl);
                job.next_renewal = now + ttl / 3;
            }
            pause = std::min(pause, job.next_renewal - now);
        }
    }
    try {
        for (const auto& [claim, ttl] : due)
            with_records([&](tick_records& records) { records.renew(claim, ttl); });
    } catch (const std::exception& problem) {
        log(std::string("A sign of life cannot be recorded: ") + problem.what());
    }
    return pause;
}

void scheduler_jobs::run(const running_job& job, const std::stop_token& stop) {
    try {
        const auto held = acquire(job, stop);
        if (!held) return settle_busy(job);
        if (begin(job, held.token())) work(job, held);
    } catch (const std::exception& problem) {
        // The claim stays until its lease is over, so that nobody tries again at once.
        log(text_of(job.decision.claim) + " did not begin here: " + problem.what());
        if (stop.stop_requested()) withdraw(job);
    }
}

// Empty if another owner has the lock. Waits in parts of a lease: if the service cannot be reached
// from here, another host gets the tick.
blocking::held_lock scheduler_jobs::acquire(const running_job& job, const std::stop_token& stop) {
    const auto& options = job.schedule.watch.options();
    const auto name = job.schedule.watch.lock_name(job.decision.claim);
    for (auto left = job.decision.lock_wait;; left -= options.ttl) {
        const auto part = std::min<duration>(left, options.ttl);
        auto held =
            locks_.try_acquire_for(name, part, {.ttl = options.ttl, .max_hold = options.max}, stop);
        if (held || part == left) return held;
    }
}

bool scheduler_jobs::begin(const running_job& job, fencing_token token) {
    const auto& decision = job.decision;
    auto result = begin_result::refused;
    const bool is_recorded = persistently([&](tick_records& records) {
        result = begin_tick(records, decision, token, job.schedule.watch.options().ttl);
    });
    if (result == begin_result::crashed) log(text_of(decision.claim) + " has crashed on its host");
    return is_recorded && result == begin_result::begun;
}

void scheduler_jobs::work(const running_job& job, const blocking::held_lock& held) {
    const auto& decision = job.decision;
    const auto running = running_tick_of(decision, held.token(), held.lost());
    int status = 1;
    std::string reason;
    try {
        status = job.schedule.job(running);
    } catch (const std::exception& problem) {
        reason = problem.what();
    } catch (...) {
        reason = "an exception of an unknown type";
    }
    if (running.lost.stop_requested()) reason = "the lock was lost";
    const bool is_recorded = persistently([&](tick_records& records) {
        if (!records.finish(decision.claim, tick_state::done, status, reason))
            log("The record of " + text_of(decision.claim) + " belongs to another host by now");
    });
    if (!is_recorded) log("The end of " + text_of(decision.claim) + " is not recorded");
}

void scheduler_jobs::settle_busy(const running_job& job) {
    const auto& claim = job.decision.claim;
    if (job.decision.next == action::recover) return;
    log(text_of(claim) + " is skipped, because another owner kept the lock");
    persistently([&](tick_records& records) {
        static_cast<void>(records.skip(claim, busy_reason, claim.due, 0));
    });
}

void scheduler_jobs::withdraw(const running_job& job) {
    if (job.decision.next == action::recover) return;
    persistently(
        [&](tick_records& records) { static_cast<void>(records.withdraw(job.decision.claim)); });
}

bool scheduler_jobs::persistently(const std::function<void(tick_records&)>& call) {
    const auto until = spi::real_runtime().now() + record_patience;
    for (auto pause = first_record_pause;; pause = std::min(pause * 2, longest_record_pause)) {
        try {
            with_records(call);
            return true;
        } catch (const std::exception& problem) {
            if (spi::real_runtime().now() + pause > until) {
                log(std::string("The records cannot be used: ") + problem.what());
                return false;
            }
        }
        pause_job(pause);
    }
}

void scheduler_jobs::pause_job(duration length) {
    std::mutex own;
    std::condition_variable_any never;
    std::unique_lock guard(own);
    never.wait_for(guard, length, [] { return false; });
}

}  // namespace pawl::guard
