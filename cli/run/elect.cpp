// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/duration.hpp"
#include "../ui/failure.hpp"
#include "../verbs/checks.hpp"
#include "../verbs/verbs.hpp"
#include "back_off.hpp"
#include "supervisor.hpp"

#include <poll.h>
#include <algorithm>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

void pause(duration lasting) {
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(lasting);
    ::poll(nullptr, 0, static_cast<int>(milliseconds.count()));
}

}  // namespace

int elect(const run_options& options) {
    if (options.command.empty() || options.command.front().empty()) {
        throw failure(
            exit_code::usage,
            "The command is missing; write it after --, as in: pawl elect NAME -- COMMAND.");
    }
    check_locks(options);
    const service_location location = find_shared_location(options.location);
    check_durability(options, location);
    bool reached = false;
    back_off pauses;
    run_options term_options = options;
    auto campaign_began = boot_clock::now();
    while (true) {
        // One candidacy and, if it gets the lock, the term that follows.
        supervisor term(term_options, location);
        const int status = term.run();
        const bool lost = term.was_ended_by_loss();
        // The library's wait covers an unavailable service from the start. A term may still end
        // without a service, for example if a grant is not renewed in time. If this candidate has
        // reached the service at least once, it stands again.
        reached = reached || term.reached_service();
        const bool unavailable = reached && term.ended_without_service();
        if (!lost && !unavailable) return status;
        if (term.reached_service()) pauses.reset();
        if (lost) campaign_began = boot_clock::now();
        const auto left = remaining_of(options.wait, campaign_began);
        if (unavailable && left == 0s) return status;
        if (!term.started_command()) pause(std::min(left, pauses.next()));
        term.reap_children();
        if (lost) say("Standing for election as '" + options.name + "' again.");
        term_options.wait = remaining_of(options.wait, campaign_began);
    }
}

}  // namespace pawl::cli
