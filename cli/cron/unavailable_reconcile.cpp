// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl reconcile` and `pawl once` of a build without the connections to databases, which come with
// schedules.
#include "../ui/failure.hpp"
#include "../verbs/verbs.hpp"

namespace pawl::cli {

namespace {

[[noreturn]] void say_what_is_missing() {
    throw failure(exit_code::usage,
                  "This pawl was built without connections to databases; install libcctz-dev and "
                  "build it again.");
}

}  // namespace

int reconcile(const reconcile_options& /*options*/) { say_what_is_missing(); }

int once_records(const once_records_options& /*options*/) { say_what_is_missing(); }

}  // namespace pawl::cli
