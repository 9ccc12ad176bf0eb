// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scheduler_jobs.hpp"

#include <pawl/guard/scheduler.hpp>
#include <pawl/spi/runtime.hpp>

#include <algorithm>
#include <utility>

namespace pawl::guard {
namespace {

using action = schedule_watch::action;

}  // namespace

class scheduler::implementation {
public:
    implementation(blocking::client& locks, tick_records& records, scheduler_options options)
        : options_(with_host(std::move(options))), jobs_(locks, records, options_) {}

    void add(std::string name, cron_schedule when, const schedule_options& options, work job) {
        add_schedule(schedules_,
                     schedule_watch(std::move(name), std::move(when), options, options_.host),
                     std::move(job));
    }

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            auto pause = look_at_all(stop);
            pause = std::min(pause, jobs_.renew());
            jobs_.wait(stop, pause);
        }
        jobs_.finish(stop);
    }

private:
    static time_point now() { return spi::real_runtime().now(); }

    // Returns the time until the next look.
    duration look_at_all(const std::stop_token& stop) {
        duration pause = longest_look_pause;
        for (auto& each : schedules_) {
            if (stop.stop_requested()) return {};
            const bool is_woken = jobs_.take_ended(each->watch.name()) || options_.pause;
            if (is_woken || each->next_look <= now()) try_to_look(*each, stop);
            pause = std::min(pause, options_.pause ? each->pause : each->next_look - now());
        }
        return std::max<duration>(pause, duration());
    }

    void try_to_look(watched_schedule& schedule, const std::stop_token& stop) {
        try {
            schedule.pause = look_at(schedule, stop);
            failure_pause_ = first_failure_pause;
        } catch (const conflict&) {
            schedule.pause = conflict_pause;
        } catch (const std::exception& problem) {
            jobs_.log(std::string("The records cannot be used: ") + problem.what());
            schedule.pause = failure_pause_;
            failure_pause_ = std::min(failure_pause_ * 2, longest_failure_pause);
        }
        schedule.next_look = now() + schedule.pause;
    }

    duration look_at(watched_schedule& schedule, const std::stop_token& stop) {
        const auto decision = jobs_.with_records(
            [&](tick_records& records) { return schedule.watch.advance(records); });
        if (now() >= schedule.next_purge) {
            schedule.next_purge = now() + purge_interval;
            jobs_.with_records([&](tick_records& records) {
                records.purge(schedule.watch.name(), options_.keep);
            });
        }
        if (decision.next != action::wait) jobs_.start(schedule, decision, stop);
        return decision.pause;
    }

    const scheduler_options options_;
    watch_list<work> schedules_;
    duration failure_pause_ = first_failure_pause;
    scheduler_jobs jobs_;
};

scheduler::scheduler(blocking::client& locks, tick_records& records, scheduler_options options)
    : implementation_(std::make_unique<implementation>(locks, records, std::move(options))) {}

scheduler::~scheduler() = default;

void scheduler::add(std::string name, cron_schedule when, const schedule_options& options,
                    work job) {
    implementation_->add(std::move(name), std::move(when), options, std::move(job));
}

void scheduler::run(std::stop_token stop) { implementation_->run(stop); }

}  // namespace pawl::guard
