#include "back_off.hpp"
#include "checks.hpp"
#include "duration.hpp"
#include "failure.hpp"
#include "front.hpp"
#include "verbs.hpp"

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
            "There is nothing to run; write it after --, as in: pawl elect NAME -- COMMAND.");
    }
    check_locks(options);
    const place where = find_shared_place(options.on);
    bool reached = false;
    back_off pauses;
    run_options asked = options;
    auto stands_since = boot_clock::now();
    while (true) {
        front term(asked, where);
        const int status = term.run();
        const bool again = term.ended_by_loss();
        // The library's wait covers a service that is away, from the start. A term may end unserved
        // all the same, as when a grant is not confirmed: who has been there stands again.
        reached = reached || term.reached_service();
        const bool away = reached && term.ended_unserved();
        if (!again && !away) return status;
        if (term.reached_service()) pauses.reset();
        if (again) stands_since = boot_clock::now();
        const auto left = rest_of(options.wait, stands_since);
        if (away && left == 0s) return status;
        if (!term.started_command()) pause(std::min(left, pauses.next()));
        term.clear_away();
        if (again) say("Stands for election as '" + options.name + "' again.");
        asked.wait = rest_of(options.wait, stands_since);
    }
}

}  // namespace pawl::cli
