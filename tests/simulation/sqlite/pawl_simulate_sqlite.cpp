// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Runs scenarios of one SQLite file: many seeds, or one seed with a trace of all events.
#include "file_scenario.hpp"

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
            violation = run_file_scenario(seed, bug).violation;
        all = all && !violation.empty();
        std::cout << name << ": "
                  << (violation.empty() ? "not found" : std::to_string(seed - 1) + "  " + violation)
                  << '\n';
    }
    return all ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    CLI::App app("Runs scenarios of one SQLite lock file in virtual time.");
    std::uint64_t first = 1, seeds = 2'000, only_seed = 0;
    bool trace = false, bugs = false;
    app.add_option("--first", first, "the first seed");
    app.add_option("--seeds", seeds, "the number of seeds");
    app.add_option("--seed", only_seed, "run only this seed");
    app.add_flag("--trace", trace, "print all events");
    app.add_flag("--bugs", bugs, "inject each bug and print the seed that finds it");
    CLI11_PARSE(app, count, arguments);
    if (bugs) return show_bugs();
    if (only_seed != 0) first = only_seed, seeds = 1;
    std::uint64_t grants = 0, steps = 0, losses = 0;
    for (auto seed = first; seed < first + seeds; ++seed) {
        const auto result = run_file_scenario(seed, file_bug::none, trace);
        std::cout << result.trace;
        grants += result.grants;
        steps += result.steps;
        losses += result.losses_reported;
        if (result.violation.empty()) continue;
        std::cout << "seed " << seed << ": " << result.violation << '\n';
        return 1;
    }
    std::cout << seeds << " scenarios, " << steps << " steps, " << grants << " grants, " << losses
              << " reported losses\n";
    return 0;
}
