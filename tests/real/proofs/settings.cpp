// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "settings.hpp"

#include <real/servers/environments.hpp>

#include <algorithm>

namespace real::proofs {

namespace {

fencing mode_of(const std::string& text) {
    for (const auto mode : {fencing::on, fencing::off, fencing::naive})
        if (text == to_string(mode)) return mode;
    throw bad_usage("There is no --fencing '" + text + "'; use on, off or naive.");
}

// The faults that all environments have, and then "in a cluster also: slot".
std::string listed_faults() {
    const auto& all = environments();
    const auto is_common = [&](const std::string& name) {
        return std::ranges::all_of(all,
                                   [&](const auto& each) { return contains(each.faults, name); });
    };
    std::vector<std::string> common;
    std::string others;
    for (const auto& name : all.front().faults)
        if (is_common(name)) common.push_back(name);
    for (const auto& each : all) {
        auto own = each.faults;
        std::erase_if(own, is_common);
        if (!own.empty()) others += "; on " + each.name + " also " + listed(own);
    }
    return listed(common) + others;
}

// A fault that none of the chosen environments has would silently not be run.
void check_fault(const std::string& name, const settings& options) {
    std::vector<std::string> elsewhere;
    for (const auto& each : environments()) {
        if (!contains(each.faults, name)) continue;
        if (options.has_environment(each.name)) return;
        elsewhere.push_back(each.name);
    }
    if (elsewhere.empty())
        throw bad_usage("There is no fault '" + name + "'; there are: " + listed_faults() + ".");
    throw bad_usage("The fault '" + name + "' needs --on " + listed(elsewhere) + ".");
}

}  // namespace

const char* to_string(fencing mode) noexcept {
    switch (mode) {
    case fencing::on: return "on";
    case fencing::off: return "off";
    case fencing::naive: return "naive";
    }
    return "";
}

bool settings::has_environment(const std::string& name) const {
    return environments.empty() || contains(environments, name);
}

bool settings::has_fault(const std::string& name) const {
    return faults.empty() || contains(faults, name);
}

settings parse_settings(const std::vector<std::string>& arguments) {
    settings result;
    read_arguments(arguments, result, names_of(environments()),
                   {{"--fencing", [&](const auto& value) { result.modes = {mode_of(value)}; }},
                    {"--faults", [&](const auto& value) { result.faults = list_of(value); }}});
    for (const auto& each : result.faults)
        check_fault(each, result);
    return result;
}

std::string usage() {
    std::string text =
        "Runs client processes against real servers, injects faults, and checks what all of them\n"
        "recorded: with fencing, with a resource that ignores tokens, and in a naive form: with\n"
        "tokens from a plain INCR, or on a database without flushed commits and without the pause\n"
        "after a failover.\n\n"
        "  --for TIME       how long new faults begin in each run: 90s, 5min, 1h; default 60s. A "
        "run\n"
        "                   takes longer: it starts the servers first, and then ends the last "
        "fault\n"
        "                   and acquires each lock once more. A run without fencing, or in the "
        "naive\n"
        "                   form, adds faults for up to a minute until there is damage.\n"
        "  --on NAME,…      the servers, all by default:\n";
    for (const auto& each : environments())
        text += "                     " + each.name + ": " + each.description + "\n";
    return text +
           "  --fencing MODE   one run only: on, off or naive\n"
           "  --faults NAME,…  only these; forget-majority and forget-all only if they are named:\n"
           "                     " +
           listed_faults() +
           "\n"
           "  --clients N      client processes, 4 by default\n"
           "  --seed N         repeats the order of the faults\n"
           "  --html FILE      also writes the tables and the failovers as a page\n";
}

}  // namespace real::proofs
