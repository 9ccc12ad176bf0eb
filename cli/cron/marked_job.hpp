// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The process of one tick at a service that keeps no records. As cron_job.hpp, but the tick has a
// mark in place of a record.
#pragma once

#include "cron_job.hpp"
#include "job_progress.hpp"

namespace pawl::cli {

// How long a mark lasts: another host may look for it until its clock says that the tick is late.
// So the clocks of two hosts may differ by `late`.
[[nodiscard]] inline duration mark_length(const guard::schedule_options& options) {
    return 2 * options.late;
}

// As run_cron_job.
[[nodiscard]] int run_marked_job(const cron_line& line,
                                 const guard::schedule_watch::decision& decision,
                                 const service_location& location, bool verbose,
                                 job_progress& progress) noexcept;

}  // namespace pawl::cli
