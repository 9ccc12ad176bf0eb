// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How far the process of a tick is, in memory that it shares with `pawl cron`.
#pragma once

#include <atomic>

namespace pawl::cli {

// waiting: the work has not begun. begun: it runs, or has ended. settled: another host has it, or
// it never begins. cancelled: `pawl cron` ends, and the work must not begin here.
enum class job_stage : int { waiting, begun, settled, cancelled };

class job_progress {
public:
    job_progress();
    ~job_progress();
    job_progress(const job_progress&) = delete;
    job_progress& operator=(const job_progress&) = delete;

    [[nodiscard]] job_stage get() const noexcept { return *stage_; }
    void set(job_stage stage) noexcept { *stage_ = stage; }
    // False: it is not waiting any more.
    bool advance(job_stage next) noexcept {
        auto expected = job_stage::waiting;
        return stage_->compare_exchange_strong(expected, next);
    }

private:
    std::atomic<job_stage>* stage_;
};

}  // namespace pawl::cli
