// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_jobs.hpp"

#include <pawl/guard/async_scheduler.hpp>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <utility>

namespace pawl::guard {

namespace asio = boost::asio;

namespace {

// Any thread may stop the scheduler.
struct stop_on_executor {
    std::weak_ptr<async_jobs> jobs;
    asio::any_io_executor executor;

    void operator()() const {
        asio::post(executor, [jobs = jobs] {
            if (const auto living = jobs.lock()) living->stop();
        });
    }
};

}  // namespace

class async_scheduler::implementation {
public:
    implementation(client& locks, async_tick_records& records, scheduler_options options)
        : options_(with_host(std::move(options))),
          jobs_(std::make_shared<async_jobs>(locks, records, options_)) {}

    void add(std::string name, cron_schedule when, const schedule_options& options, work job) {
        add_schedule(schedules_,
                     schedule_watch(std::move(name), std::move(when), options, options_.host),
                     std::move(job));
    }

    asio::awaitable<void> run(std::stop_token stop) {
        const auto executor = co_await asio::this_coro::executor;
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        jobs_->attach(executor);
        const std::stop_callback on_stop(stop, stop_on_executor{jobs_, executor});
        while (!stop.stop_requested()) {
            const duration look = co_await look_at_all(stop);
            const duration renewal = co_await jobs_->renew();
            co_await jobs_->wait(std::min(look, renewal));
        }
        while (!jobs_->is_idle()) {
            const duration renewal = co_await jobs_->renew();
            co_await jobs_->wait(renewal);
        }
    }

private:
    static time_point now() { return spi::real_runtime().now(); }

    // Returns the time until the next look.
    asio::awaitable<duration> look_at_all(std::stop_token stop) {
        duration pause = longest_look_pause;
        for (const auto& each : schedules_) {
            if (stop.stop_requested()) co_return duration();
            const bool is_woken = jobs_->take_ended(each->watch.name()) || options_.pause;
            if (is_woken || each->next_look <= now()) co_await try_to_look(*each);
            pause = std::min(pause, options_.pause ? each->pause : each->next_look - now());
        }
        co_return std::max(pause, duration());
    }

    asio::awaitable<void> try_to_look(async_watched_schedule& schedule) {
        std::string failure;
        try {
            schedule.pause = co_await look_at(schedule);
            failure_pause_ = first_failure_pause;
        } catch (const conflict&) {
            schedule.pause = conflict_pause;
        } catch (const std::exception& problem) {
            failure = problem.what();
        }
        if (!failure.empty()) {
            jobs_->log("The records cannot be used: " + failure);
            schedule.pause = failure_pause_;
            failure_pause_ = std::min(failure_pause_ * 2, longest_failure_pause);
        }
        schedule.next_look = now() + schedule.pause;
    }

    asio::awaitable<duration> look_at(async_watched_schedule& schedule) {
        const auto decision = co_await jobs_->advance(schedule.watch);
        if (now() >= schedule.next_purge) {
            schedule.next_purge = now() + purge_interval;
            co_await jobs_->purge(schedule.watch.name(), options_.keep);
        }
        if (decision.next != schedule_watch::action::wait) jobs_->start(schedule, decision);
        co_return decision.pause;
    }

    const scheduler_options options_;
    watch_list<work> schedules_;
    duration failure_pause_ = first_failure_pause;
    std::shared_ptr<async_jobs> jobs_;
};

async_scheduler::async_scheduler(client& locks, async_tick_records& records,
                                 scheduler_options options)
    : implementation_(std::make_unique<implementation>(locks, records, std::move(options))) {}

async_scheduler::~async_scheduler() = default;

void async_scheduler::add(std::string name, cron_schedule when, const schedule_options& options,
                          work job) {
    implementation_->add(std::move(name), std::move(when), options, std::move(job));
}

asio::awaitable<void> async_scheduler::run(std::stop_token stop) {
    return implementation_->run(std::move(stop));
}

}  // namespace pawl::guard
