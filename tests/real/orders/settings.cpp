// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "settings.hpp"

#include "experiments.hpp"

#include <orders/layers.hpp>

#include <real/arguments.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace real::orders {

namespace {

const std::string name = "orders";

std::size_t number_of(const std::string& option, const std::string& text, std::size_t least,
                      std::size_t most) {
    std::size_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size() || number < least ||
        number > most)
        throw bad_usage("'" + text + "' is no number for " + option + "; use " +
                        std::to_string(least) + " to " + std::to_string(most) + ".");
    return number;
}

std::string layers_of(const std::string& text) {
    if (text == no_layer || experiment_of(text) != nullptr) return text;
    try {
        if (const auto missing = shop::all_without(text).missing(); !missing.empty())
            return missing;
    } catch (const std::invalid_argument& problem) {
        throw bad_usage(problem.what() + std::string(" Or use replication, everything, or none."));
    }
    throw bad_usage("--without needs the name of a layer.");
}

}  // namespace

bool is_for_orders(const std::vector<std::string>& arguments) {
    const auto option = std::ranges::find(arguments, "--on");
    if (option == arguments.end() || option + 1 == arguments.end()) return false;
    const auto chosen_servers = list_of(option[1]);
    if (!contains(chosen_servers, name)) return false;
    if (chosen_servers.size() > 1)
        throw bad_usage("The orders are another experiment than the servers; use --on orders.");
    return true;
}

settings parse_settings(const std::vector<std::string>& arguments) {
    for (const auto* each : {"--for", "--clients"})
        if (contains(arguments, each))
            throw bad_usage("The option " + std::string(each) +
                            " is not for the orders; use --orders.");
    settings result;
    common_settings common;
    read_arguments(
        arguments, common, {name},
        {{"--orders",
          [&](const auto& value) { result.orders = number_of("--orders", value, 60, 1'000'000); }},
         {"--seeds",
          [&](const auto& value) { result.seeds = number_of("--seeds", value, 1, 1000); }},
         {"--without", [&](const auto& value) { result.without = layers_of(value); }}});
    result.seed = common.seed;
    result.html = common.html;
    return result;
}

std::string usage() {
    std::string text =
        "--on orders is an experiment of its own. The three programs of examples/orders carry out\n"
        "orders, with three callers each, while processes, locks, the database and the service\n"
        "outside fail. An independent auditor then reads what is stored. With all layers nothing\n"
        "may be wrong; without a layer the damage is shown.\n\n"
        "  --orders N       the orders of each program, 60 or more; 5000 by default. Without a\n"
        "                   layer, there are a quarter of so many from 1000 on\n"
        "  --without LAYER  only this run, with N orders; none: all layers. A layer that another "
        "one\n"
        "                   replaces is taken away together with it. Other layers together, such "
        "as\n"
        "                   lock,look, are run with all programs:\n";
    for (const auto& each : experiments())
        text += "                     " + std::string(each.layer) +
                (std::string(each.without).empty() || std::string(each.layer) == each.without
                     ? ""
                     : ": " + std::string(each.without)) +
                "\n";
    return text +
           "  --seed N         repeats which faults meet which orders\n"
           "  --seeds N        runs all layers with so many seeds, from --seed on\n"
           "  --html FILE      also writes the tables as a page\n";
}

}  // namespace real::orders
