// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The process of one tick: holds the lock, runs the command as `pawl run` does, and records both.
#pragma once

#include "../config/service_location.hpp"
#include "../run/run_hooks.hpp"
#include "../verbs/verbs.hpp"
#include "cron_file.hpp"
#include "job_progress.hpp"

#include <functional>

namespace pawl::cli {

// The main function of that process. The caller must have one thread and no connection. Returns the
// exit status of the process.
[[nodiscard]] int run_cron_job(const cron_line& line,
                               const guard::schedule_watch::decision& decision,
                               const std::string& lock_name, const service_location& location,
                               bool verbose, job_progress& progress) noexcept;

// The rest is for both kinds of such processes: this one, and that of marked_job.hpp.
class tick_hooks : public run_hooks {
public:
    // True after the first call of may_begin.
    [[nodiscard]] virtual bool reached_lock() const noexcept = 0;
};

struct job_result {
    int status = 0;
    bool is_busy = false;  // another process kept the lock
};

// Runs the command under its lock, as `pawl run` does. Waits in parts of a lease: if the service
// cannot be reached from here, another host gets the tick. `is_open` is asked before each part;
// false ends the wait.
[[nodiscard]] job_result run_under_lock(run_options options, duration lock_wait,
                                        const service_location& location, tick_hooks& hooks,
                                        const std::function<bool()>& is_open);

// For messages.
[[nodiscard]] std::string tick_name(const guard::tick_claim& claim);
[[nodiscard]] run_options job_options(const cron_line& line,
                                      const guard::schedule_watch::decision& decision,
                                      const std::string& lock_name);

}  // namespace pawl::cli
