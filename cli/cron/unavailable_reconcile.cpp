// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl reconcile` of a build without the connections to databases, which come with schedules.
#include "../ui/failure.hpp"
#include "../verbs/verbs.hpp"

namespace pawl::cli {

int reconcile(const reconcile_options& /*options*/) {
    throw failure(exit_code::usage,
                  "This pawl was built without connections to databases; install libcctz-dev and "
                  "build it again.");
}

}  // namespace pawl::cli
