// Runs worlds of one SQLite file: many seeds, or one of them again with all that happens in it.
#include "file_world.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <string>

namespace {

using namespace pawl::simulation;

int show_bugs() {
    bool all = true;
    for (const auto& [bug, name] : file_bug_names) {
        if (bug == file_bug::none) continue;
        std::uint64_t seed = 1;
        std::string violation;
        for (; violation.empty() && seed <= 2'000; ++seed)
            violation = run_file_world(seed, bug).violation;
        all = all && !violation.empty();
        std::cout << name << ": "
                  << (violation.empty() ? "not found" : std::to_string(seed - 1) + "  " + violation)
                  << '\n';
    }
    return all ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    CLI::App app("Worlds of one SQLite lock file in virtual time");
    std::uint64_t first = 1, seeds = 2'000, again = 0;
    bool trace = false, bugs = false;
    app.add_option("--first", first, "seed to begin with");
    app.add_option("--seeds", seeds, "how many");
    app.add_option("--seed", again, "this one alone");
    app.add_flag("--trace", trace, "all that happens");
    app.add_flag("--bugs", bugs, "plants each bug: which seed finds it?");
    CLI11_PARSE(app, count, arguments);
    if (bugs) return show_bugs();
    if (again != 0) first = again, seeds = 1;
    std::uint64_t grants = 0, steps = 0, losses = 0;
    for (auto seed = first; seed < first + seeds; ++seed) {
        const auto result = run_file_world(seed, file_bug::none, trace);
        std::cout << result.trace;
        grants += result.grants;
        steps += result.steps;
        losses += result.losses_told;
        if (result.violation.empty()) continue;
        std::cout << "seed " << seed << ": " << result.violation << '\n';
        return 1;
    }
    std::cout << seeds << " worlds, " << steps << " steps, " << grants << " grants, " << losses
              << " losses told\n";
    return 0;
}
