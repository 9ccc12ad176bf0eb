// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "settings.hpp"

#include "environments.hpp"

#include <algorithm>
#include <charconv>
#include <random>
#include <sstream>
#include <string_view>

namespace proofs {

namespace {

std::vector<std::string> list_of(const std::string& text) {
    std::vector<std::string> items;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');)
        items.push_back(item);
    return items;
}

std::uint64_t number_of(std::string_view text, std::string_view& rest) {
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    rest = failure == std::errc() ? text.substr(static_cast<std::size_t>(end - text.data())) : "?";
    return number;
}

std::chrono::seconds time_of(const std::string& text) {
    std::string_view unit;
    const auto number = number_of(text, unit);
    const std::uint64_t factor = unit.empty() || unit == "s" ? 1 : unit == "min" ? 60 : 3600;
    if ((factor == 3600 && unit != "h") || number == 0 || number > 10'000)
        throw bad_usage("'" + text + "' is no time for --for; use 90s, 5min or 1h.");
    return std::chrono::seconds(number * factor);
}

std::uint64_t seed_of(const std::string& text) {
    std::string_view rest;
    const auto seed = number_of(text, rest);
    if (!rest.empty()) throw bad_usage("'" + text + "' is no --seed; use a number.");
    return seed;
}

std::size_t clients_of(const std::string& text) {
    constexpr std::size_t most = 64;
    std::string_view rest;
    const auto clients = number_of(text, rest);
    if (!rest.empty() || clients == 0 || clients > most)
        throw bad_usage("'" + text + "' is no number of --clients; use 1 to 64.");
    return clients;
}

fencing mode_of(const std::string& text) {
    for (const auto mode : {fencing::on, fencing::off, fencing::naive})
        if (text == to_string(mode)) return mode;
    throw bad_usage("There is no --fencing '" + text + "'; use on, off or naive.");
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& each : names)
        text += (text.empty() ? "" : ", ") + each;
    return text;
}

void check_environment(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& each : environments())
        known.push_back(each.name);
    if (!contains(known, name))
        throw bad_usage("There is no --on '" + name + "'; there are: " + listed(known) + ".");
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
    result.seed = std::random_device{}();
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& option = arguments[i];
        if (option == "--help") {
            result.help = true;
            continue;
        }
        static const std::vector<std::string> options{
            "--for", "--on", "--fencing", "--clients", "--faults", "--seed", "--html"};
        if (std::ranges::find(options, option) == options.end())
            throw bad_usage("There is no option '" + option + "'; --help lists the options.");
        if (++i == arguments.size())
            throw bad_usage("The option " + option + " needs a value; --help has the values.");
        const auto& value = arguments[i];
        if (option == "--for") result.length = time_of(value);
        if (option == "--on") result.environments = list_of(value);
        if (option == "--fencing") result.modes = {mode_of(value)};
        if (option == "--faults") result.faults = list_of(value);
        if (option == "--clients") result.clients = clients_of(value);
        if (option == "--seed") result.seed = seed_of(value);
        if (option == "--html") result.html = value;
    }
    std::ranges::for_each(result.environments, check_environment);
    for (const auto& each : result.faults)
        check_fault(each, result);
    return result;
}

std::string usage() {
    std::string text =
        "Runs client processes against real servers, injects faults, and checks what all of them\n"
        "recorded: with fencing, with a resource that ignores tokens, and with tokens from a "
        "plain\n"
        "INCR.\n\n"
        "  --for TIME       how long new faults begin in each run: 90s, 5min, 1h; default 60s. A "
        "run\n"
        "                   takes longer: it starts the servers first, and then ends the last "
        "fault\n"
        "                   and acquires each lock once more. A run without fencing, or with a "
        "plain\n"
        "                   INCR, adds faults for up to a minute until there is damage.\n"
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

}  // namespace proofs
