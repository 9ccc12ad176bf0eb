// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "settings.hpp"

namespace real::soak {

namespace {

bool checks_tokens(const std::string& fencing) {
    if (fencing != "on" && fencing != "off")
        throw bad_usage("There is no --fencing '" + fencing + "'; use on or off.");
    return fencing == "on";
}

}  // namespace

settings parse_settings(const std::vector<std::string>& arguments) {
    settings result;
    const auto reader_of_time = [](std::chrono::seconds& time, const std::string& option) {
        return [&time, option](const std::string& value) { time = time_of(option, value); };
    };
    read_arguments(
        arguments, result, names_of(soak_environments()),
        {{"--round", reader_of_time(result.round, "--round")},
         {"--every", reader_of_time(result.line_interval, "--every")},
         {"--fencing", [&](const auto& value) { result.checks_tokens = checks_tokens(value); }}},
        {{"--first-failure", &result.ends_at_failure}});
    return result;
}

std::string usage() {
    std::string text =
        "Runs client processes for hours, on one environment after the other, with faults. Checks\n"
        "what all of them recorded in each round, and whether the processes grow. Exit status: 0\n"
        "all promises were kept, 1 they were not, 2 a wrong command line.\n\n"
        "  --for TIME       of all environments together, in equal parts: 90s, 5min, 8h; 8h by\n"
        "                   default. Ctrl-C ends a run early, with the report\n"
        "  --on NAME,…      the environments, all by default:\n";
    for (const auto& each : soak_environments())
        text += "                     " + each.name + ": " + each.description + "\n";
    return text +
           "  --round TIME     the records are checked and deleted after so long; default 2min\n"
           "  --every TIME     from one line of figures to the next; default 1min\n"
           "  --clients N      client processes, 4 by default\n"
           "  --seed N         repeats the order of the faults\n"
           "  --html FILE      also writes the report as a page, with a drawing\n"
           "  --fencing off    the resource ignores tokens, which must break promises\n"
           "  --first-failure  ends after the first round that breaks a promise\n";
}

std::vector<environment_entry> chosen_environments(const std::vector<std::string>& named,
                                                   std::vector<std::string>& notes) {
    std::vector<environment_entry> entries;
    for (const auto& each : soak_environments()) {
        const bool is_named = contains(named, each.name);
        if (!named.empty() && !is_named) continue;
        const auto obstacle = obstacle_of(each);
        if (obstacle.empty())
            entries.push_back(each);
        else if (is_named)
            throw bad_usage("The environment '" + each.name + "' cannot be run here: " + obstacle +
                            "; leave it out of --on.");
        else
            notes.push_back("The environment '" + each.name + "' is not run: " + obstacle + ".");
    }
    return entries;
}

}  // namespace real::soak
