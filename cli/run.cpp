#include "checks.hpp"
#include "failure.hpp"
#include "front.hpp"
#include "verbs.hpp"

namespace pawl::cli {

int run(const run_options& options) {
    if (options.command.empty() || options.command.front().empty()) {
        throw failure(
            exit_code::usage,
            "There is nothing to run; write it after --, as in: pawl run NAME -- COMMAND.");
    }
    if (options.min_hold > options.max_hold) {
        throw failure(exit_code::usage, "--min-hold is longer than --max-hold; make it shorter.");
    }
    if (options.min_hold == forever) {
        throw failure(exit_code::usage,
                      "A --min-hold of forever would never give the lock back; make it shorter.");
    }
    check_locks(options);
    const place where = find_shared_place(options.on);
    return front(options, where).run();
}

}  // namespace pawl::cli
