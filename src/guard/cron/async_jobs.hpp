// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The coroutines of an async_scheduler in which work runs. As scheduler_jobs, on one executor.
#pragma once

#include "async_turns.hpp"
#include "scheduler_rules.hpp"

#include <pawl/guard/async_scheduler.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <list>
#include <memory>
#include <optional>
#include <set>

namespace pawl::guard {

using async_watched_schedule = watched<async_scheduler::work>;

// Its coroutines own it, since they may be destroyed with the event loop.
class async_jobs : public std::enable_shared_from_this<async_jobs> {
public:
    // They must outlive its coroutines, unless these are destroyed.
    async_jobs(client& locks, async_tick_records& records, const scheduler_options& options)
        : locks_(locks), records_(records), options_(options) {}

    // First. Everything runs on this executor.
    void attach(const boost::asio::any_io_executor& executor);
    // No work begins any more.
    void stop();
    void log(const std::string& line) const;

    // As schedule_watch::advance.
    boost::asio::awaitable<schedule_watch::decision> advance(schedule_watch& watch);
    boost::asio::awaitable<void> purge(const std::string& name, duration keep);

    // Runs the tick in a coroutine of its own. The schedule must outlive it.
    void start(async_watched_schedule& schedule, const schedule_watch::decision& decision);
    // Signs of life of all that runs, if they are due. Returns the time until the next one.
    boost::asio::awaitable<duration> renew();
    // True, once, after the end of work of this schedule.
    [[nodiscard]] bool take_ended(const std::string& name) { return ended_.erase(name) > 0; }
    // For that time, or until work ends or `stop`.
    boost::asio::awaitable<void> wait(duration longest);
    [[nodiscard]] bool is_idle() const noexcept { return jobs_.empty(); }

private:
    struct running_job {
        const async_watched_schedule& schedule;
        schedule_watch::decision decision;
        time_point next_renewal{};
        boost::asio::cancellation_signal cancel{};  // of the wait for the lock
    };
    using job_pointer = std::shared_ptr<running_job>;
    using record_change = std::function<boost::asio::awaitable<bool>()>;

    static boost::asio::awaitable<void> run(std::shared_ptr<async_jobs> self, job_pointer job);
    boost::asio::awaitable<void> try_to_run(running_job& job);
    boost::asio::awaitable<held_lock> acquire(running_job& job);
    boost::asio::awaitable<bool> begin(const running_job& job, fencing_token token);
    boost::asio::awaitable<bool> begin_in_records(const running_job& job, fencing_token token);
    boost::asio::awaitable<void> work(const running_job& job, const held_lock& held);
    boost::asio::awaitable<void> settle_busy(const running_job& job);
    boost::asio::awaitable<void> withdraw(const running_job& job);
    boost::asio::awaitable<void> record_skips(const schedule_watch::plan& plan);
    boost::asio::awaitable<std::optional<bool>> persistently(const record_change& change);
    void wake();

    client& locks_;
    async_tick_records& records_;
    const scheduler_options options_;
    boost::asio::any_io_executor executor_;
    async_turns turns_;  // of the records
    std::unique_ptr<spi::timer> wakeup_;
    bool is_woken_ = false, is_stopping_ = false;
    std::list<job_pointer> jobs_;
    std::set<std::string> ended_;  // names of schedules
};

}  // namespace pawl::guard
