// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/failure.hpp"
#include "../verbs/checks.hpp"
#include "../verbs/verbs.hpp"
#include "supervisor.hpp"

namespace pawl::cli {

namespace {

// --max-hold counts from the grant, --min-hold from when the supervisor learns of it.
constexpr duration hold_margin = std::chrono::milliseconds(100);

}  // namespace

int run(const run_options& options) {
    if (options.command.empty() || options.command.front().empty()) {
        throw failure(
            exit_code::usage,
            "The command is missing; write it after --, as in: pawl run NAME -- COMMAND.");
    }
    if (options.min_hold > duration::zero() && options.max_hold != forever &&
        options.min_hold > options.max_hold - hold_margin) {
        throw failure(
            exit_code::usage,
            "--min-hold must be at least 100 ms shorter than --max-hold; make it shorter.");
    }
    if (options.min_hold == forever) {
        throw failure(
            exit_code::usage,
            "--min-hold is forever, so the lock would never be released; make it shorter.");
    }
    check_locks(options);
    const service_location location = find_shared_location(options.location);
    check_durability(options, location);
    return supervisor(options, location).run();
}

}  // namespace pawl::cli
