// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "settings.hpp"

#include <random>

namespace real::soak {

namespace {

bool checks_tokens(const std::string& fencing) {
    if (fencing != "on" && fencing != "off")
        throw bad_usage("There is no --fencing '" + fencing + "'; use on or off.");
    return fencing == "on";
}

void set_value(settings& result, const std::string& option, const std::string& value) {
    if (option == "--for") result.length = time_of(option, value);
    if (option == "--round") result.round = time_of(option, value);
    if (option == "--every") result.line_interval = time_of(option, value);
    if (option == "--on") result.environments = list_of(value);
    if (option == "--fencing") result.checks_tokens = checks_tokens(value);
    if (option == "--clients") result.clients = clients_of(value);
    if (option == "--seed") result.seed = seed_of(value);
    if (option == "--html") result.html = value;
}

}  // namespace

settings parse_settings(const std::vector<std::string>& arguments) {
    settings result;
    result.seed = std::random_device{}();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& option = arguments[i];
        if (option == "--help") {
            result.help = true;
            continue;
        }
        if (option == "--first-failure") {
            result.ends_at_failure = true;
            continue;
        }
        static const std::vector<std::string> options{
            "--for", "--on", "--round", "--every", "--fencing", "--clients", "--seed", "--html"};
        if (!contains(options, option))
            throw bad_usage("There is no option '" + option + "'; --help lists the options.");
        if (++i == arguments.size())
            throw bad_usage("The option " + option + " needs a value; --help has the values.");
        set_value(result, option, arguments[i]);
    }
    for (const auto& each : result.environments)
        check_environment(each, names_of(soak_environments()));
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

std::vector<environment_entry> chosen_environments(const settings& options,
                                                   std::vector<std::string>& notes) {
    std::vector<environment_entry> entries;
    for (const auto& each : soak_environments()) {
        const bool is_named = contains(options.environments, each.name);
        if (!options.environments.empty() && !is_named) continue;
        const auto obstacle = each.obstacle == nullptr ? std::string() : each.obstacle();
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
