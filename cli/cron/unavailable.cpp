// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl cron` of a build without schedules.
#include "../ui/failure.hpp"
#include "../verbs/verbs.hpp"

namespace pawl::cli {

int cron(const cron_options& /*options*/) {
    throw failure(exit_code::usage,
                  "This pawl was built without schedules; install libcctz-dev and build it again.");
}

}  // namespace pawl::cli
