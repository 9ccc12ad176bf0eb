#include "failure.hpp"
#include "front.hpp"
#include "verbs.hpp"

#include <poll.h>
#include <algorithm>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

void pause(std::chrono::milliseconds lasting) {
    ::poll(nullptr, 0, static_cast<int>(lasting.count()));
}

}  // namespace

int elect(const run_options& options) {
    if (options.command.empty() || options.command.front().empty()) {
        throw failure(
            exit_code::usage,
            "There is nothing to run; write it after --, as in: pawl elect NAME -- COMMAND.");
    }
    const place where = find_place(options.on);
    bool led = false;
    for (auto patience = 1000ms;; patience = std::min(patience * 2, 16000ms)) {
        front term(options, where);
        const int status = term.run();
        const bool again = term.ended_by_loss();
        if (again) term.clear_away();
        if (again) say("Stands for election as '" + options.name + "' again.");
        // Who has led rides out a service that is away; a mistyped URL shows at the first try.
        const bool away = led && status == static_cast<int>(exit_code::unreachable);
        if (!again && !away) return status;
        led = true;
        if (again) patience = 500ms;
        if (away) pause(patience);
    }
}

}  // namespace pawl::cli
