// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How far the process of a tick is, in memory that it shares with `pawl cron`.
#pragma once

#include <atomic>

namespace pawl::cli {

// waiting: nobody is known to have begun the work. begun: it runs here, or has ended. settled:
// another host has it, or it never begins.
enum class job_stage : int { waiting, begun, settled };

class job_progress {
public:
    job_progress();
    ~job_progress();
    job_progress(const job_progress&) = delete;
    job_progress& operator=(const job_progress&) = delete;

    [[nodiscard]] job_stage get() const noexcept { return *stage_; }
    void set(job_stage stage) noexcept { *stage_ = stage; }

private:
    std::atomic<job_stage>* stage_;
};

}  // namespace pawl::cli
