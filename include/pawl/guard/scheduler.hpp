// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs functions at their times, each tick on one of several hosts: docs/guide/schedules.md.
// Standard headers only.
#pragma once

#include <pawl/blocking/client.hpp>
#include <pawl/guard/schedule_watch.hpp>
#include <pawl/guard/scheduler_options.hpp>

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace pawl::guard {

// Looks at the records on the thread of `run`, and runs the work of each tick on a thread of its
// own, under the lock of its schedule. There is no leader: several processes with the same
// schedules share the work, and each tick is run by one of them. How often it begins is the option
// `attempts`.
//
// The locks may be at another service than the records. The records are used by one thread at a
// time, for short calls; if they fail, the scheduler tries again, with pauses of up to 16 s. A
// broken connection must be replaced by the records' own class.
class scheduler {
public:
    // Returns the status for the history: 0 for success. An exception is recorded as status 1 with
    // its message. It is not repeated; only a crash of the host is.
    using work = std::function<int(const running_tick& running)>;

    // Both must outlive the scheduler.
    scheduler(blocking::client& locks, tick_records& records, scheduler_options options = {});
    ~scheduler();
    scheduler(const scheduler&) = delete;
    scheduler& operator=(const scheduler&) = delete;

    // Before `run`. The same on all hosts. Throws errc::bad_name, also for a second schedule with
    // the name, and errc::bad_option.
    void add(std::string name, cron_schedule when, const schedule_options& options, work job);

    // Returns after `stop`, when the running work has ended; no work begins after it. Throws
    // nothing of the records and the locks. Call it once.
    void run(std::stop_token stop);

private:
    class implementation;
    std::unique_ptr<implementation> implementation_;
};

}  // namespace pawl::guard
