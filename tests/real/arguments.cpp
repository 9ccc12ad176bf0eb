// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <random>
#include <sstream>
#include <string_view>

namespace real {

namespace {

std::uint64_t number_of(std::string_view text, std::string_view& rest) {
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    rest = failure == std::errc() ? text.substr(static_cast<std::size_t>(end - text.data())) : "?";
    return number;
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

void check_environment(const std::string& name, const std::vector<std::string>& known) {
    if (!contains(known, name))
        throw bad_usage("There is no --on '" + name + "'; there are: " + listed(known) + ".");
}

}  // namespace

void read_arguments(const std::vector<std::string>& arguments, common_settings& result,
                    const std::vector<std::string>& environments, option_readers readers,
                    const switches& own_switches) {
    result.seed = std::random_device{}();
    readers["--for"] = [&](const auto& value) { result.length = time_of("--for", value); };
    readers["--on"] = [&](const auto& value) { result.environments = list_of(value); };
    readers["--clients"] = [&](const auto& value) { result.clients = clients_of(value); };
    readers["--seed"] = [&](const auto& value) { result.seed = seed_of(value); };
    readers["--html"] = [&](const auto& value) { result.html = value; };
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const auto& option = arguments[i];
        if (const auto entry = own_switches.find(option); entry != own_switches.end()) {
            *entry->second = true;
            continue;
        }
        const auto reader = readers.find(option);
        if (reader == readers.end())
            throw bad_usage("There is no option '" + option + "'; --help lists the options.");
        if (++i == arguments.size())
            throw bad_usage("The option " + option + " needs a value; --help has the values.");
        reader->second(arguments[i]);
    }
    for (const auto& each : result.environments)
        check_environment(each, environments);
}

std::vector<std::string> list_of(const std::string& text) {
    std::vector<std::string> items;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');)
        items.push_back(item);
    return items;
}

std::chrono::seconds time_of(const std::string& option, const std::string& text) {
    std::string_view unit;
    const auto number = number_of(text, unit);
    const std::uint64_t factor = unit.empty() || unit == "s" ? 1 : unit == "min" ? 60 : 3600;
    if ((factor == 3600 && unit != "h") || number == 0 || number > 10'000)
        throw bad_usage("'" + text + "' is no time for " + option + "; use 90s, 5min or 1h.");
    return std::chrono::seconds(number * factor);
}

std::ofstream open_page(const std::string& path) {
    std::ofstream page;
    if (path.empty()) return page;
    page.open(path);
    if (!page) throw bad_usage("'" + path + "' cannot be written; name another --html.");
    return page;
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

}  // namespace real
