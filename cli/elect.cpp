#include "back_off.hpp"
#include "failure.hpp"
#include "front.hpp"
#include "verbs.hpp"

#include <poll.h>

namespace pawl::cli {

namespace {

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
    const place where = find_shared_place(options.on);
    bool led = false;
    back_off pauses;
    while (true) {
        front term(options, where);
        const int status = term.run();
        const bool again = term.ended_by_loss();
        if (again) term.clear_away();
        if (again) say("Stands for election as '" + options.name + "' again.");
        // Who has led rides out a service that is away; a mistyped URL shows at the first try.
        const bool away = led && status == static_cast<int>(exit_code::unreachable);
        if (!again && !away) return status;
        led = true;
        if (again) pauses.reset();
        if (away) pause(pauses.next());
    }
}

}  // namespace pawl::cli
