// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs coroutines at their times, each tick on one of several hosts: docs/guide/schedules.md. As
// pawl/guard/scheduler.hpp.
#pragma once

#include <pawl/client.hpp>
#include <pawl/guard/async_tick_records.hpp>
#include <pawl/guard/schedule_watch.hpp>
#include <pawl/guard/scheduler_options.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace pawl::guard {

// As scheduler, with the same records: both may serve one schedule. The work of each tick is a
// coroutine of its own, on the executor of `run`, which must not run two handlers at the same time:
// use a strand if the event loop has several threads. Not thread-safe.
class async_scheduler {
public:
    // As scheduler::work. `running` lives until the coroutine has ended.
    using work = std::function<boost::asio::awaitable<int>(const running_tick& running)>;

    // Both must outlive the scheduler.
    async_scheduler(client& locks, async_tick_records& records, scheduler_options options = {});
    ~async_scheduler();
    async_scheduler(const async_scheduler&) = delete;
    async_scheduler& operator=(const async_scheduler&) = delete;

    // As scheduler::add.
    void add(std::string name, cron_schedule when, const schedule_options& options, work job);

    // Completes after `stop`, when the running work has ended; no work begins after it. Throws
    // nothing of the records and the locks. Call it once. This object must outlive it, unless the
    // event loop does not run any more. Any thread may request the stop.
    //
    // Cancellation: none; use `stop`.
    boost::asio::awaitable<void> run(std::stop_token stop);

private:
    class implementation;
    std::unique_ptr<implementation> implementation_;
};

}  // namespace pawl::guard
