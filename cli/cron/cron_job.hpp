// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The process of one tick: holds the lock, runs the command as `pawl run` does, and records both.
#pragma once

#include "../config/service_location.hpp"
#include "cron_file.hpp"

namespace pawl::cli {

// The main function of that process. The caller must have one thread and no connection. Returns the
// exit status of the process.
[[nodiscard]] int run_cron_job(const cron_line& line,
                               const guard::schedule_watch::decision& decision,
                               const std::string& lock_name, const service_location& location,
                               bool verbose) noexcept;

}  // namespace pawl::cli
