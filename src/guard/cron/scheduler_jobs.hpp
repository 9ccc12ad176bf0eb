// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The threads of a scheduler on which work runs.
#pragma once

#include "scheduler_rules.hpp"

#include <pawl/guard/scheduler.hpp>

#include <condition_variable>
#include <list>
#include <mutex>
#include <set>
#include <thread>

namespace pawl::guard {

using watched_schedule = watched<scheduler::work>;

// Thread-safe.
class scheduler_jobs {
public:
    // They must outlive this object.
    scheduler_jobs(blocking::client& locks, tick_records& records, const scheduler_options& options)
        : locks_(locks), records_(records), options_(options) {}

    // One thread at a time.
    template <class Call>
    auto with_records(Call call) {
        const std::scoped_lock guard(records_mutex_);
        return call(records_);
    }
    void log(const std::string& line) const;

    // Runs the tick on a thread of its own. The schedule must outlive it.
    void start(watched_schedule& schedule, const schedule_watch::decision& decision,
               const std::stop_token& stop);
    // Signs of life of all that runs, if they are due. Returns when the next one is.
    duration renew();
    // True, once, after the end of work of this schedule.
    [[nodiscard]] bool take_ended(const std::string& name);
    // Until then, or until work ends or `stop`.
    void wait(const std::stop_token& stop, duration longest);
    // Waits for all work.
    void finish(const std::stop_token& stop);

private:
    struct running_job {
        const watched_schedule& schedule;
        schedule_watch::decision decision;
        time_point next_renewal{};
        bool has_ended = false;
        std::jthread thread{};
    };

    void run(const running_job& job, const std::stop_token& stop);
    [[nodiscard]] blocking::held_lock acquire(const running_job& job, const std::stop_token& stop);
    [[nodiscard]] bool begin(const running_job& job, fencing_token token);
    void work(const running_job& job, const blocking::held_lock& held);
    void settle_busy(const running_job& job);
    void withdraw(const running_job& job);
    // Repeats the call while the records fail, for a while. False: in vain.
    bool persistently(const std::function<void(tick_records&)>& call);
    void pause_job(duration length);
    void end(running_job& job);
    void forget_ended();

    blocking::client& locks_;
    tick_records& records_;
    const scheduler_options& options_;
    std::mutex records_mutex_;
    std::mutex mutex_;  // of what follows
    std::condition_variable_any changed_;
    std::list<running_job> jobs_;
    std::set<std::string> ended_;  // names of schedules
};

}  // namespace pawl::guard
