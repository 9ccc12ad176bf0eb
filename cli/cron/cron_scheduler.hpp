// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl cron FILE`: one thread that looks at the records, and a process for each tick that runs.
#pragma once

#include "../config/service_location.hpp"
#include "../run/back_off.hpp"
#include "../run/event_source.hpp"
#include "cron_file.hpp"
#include "job_progress.hpp"
#include "local_ticks.hpp"
#include "record_store.hpp"

#include <pawl/blocking/client.hpp>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace pawl::cli {

class cron_scheduler {
public:
    cron_scheduler(const std::vector<cron_line>& lines, const service_location& location,
                   bool verbose);

    // Until a signal; then waits for the commands that run. A second signal is passed on to them.
    // Returns the exit status; the message for a failure has then been printed.
    int run();

private:
    struct watched_schedule {
        const cron_line* line;
        guard::schedule_watch watch;
        time_point next_look{};
        time_point next_purge{};
    };
    struct running_job {
        watched_schedule* schedule;
        guard::tick_claim claim;
        time_point next_renewal;
        std::shared_ptr<job_progress> progress;
    };

    [[nodiscard]] guard::tick_records& ticks();
    void close_records() noexcept;
    void refuse_without_records() const;
    int verify_locks();
    void prepare_records();
    [[nodiscard]] int try_locks() const;
    void try_mark(blocking::client& locks) const;
    void look_at_all();
    void look_at(watched_schedule& schedule);
    void start(watched_schedule& schedule, const guard::schedule_watch::decision& decision);
    void renew_running();
    void note_progress();
    void cancel_waiting();
    void reap();
    void handle_signals(const event_batch& batch);
    void note_outage(const std::exception& problem);
    [[nodiscard]] time_point next_wakeup() const;

    const service_location& location_;
    bool verbose_;
    event_source events_;
    std::optional<record_store> store_;
    local_ticks local_;  // for a service without records
    std::vector<watched_schedule> schedules_;
    std::map<pid_t, running_job> running_;
    back_off pauses_;
    time_point retry_at_{};  // of the records, after a failure
    bool is_away_ = false;
    bool is_stopping_ = false;
};

}  // namespace pawl::cli
