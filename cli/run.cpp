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
    const place where = find_place(options.on);
    return front(options, where).run();
}

}  // namespace pawl::cli
