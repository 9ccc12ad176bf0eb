// What the command line is read into, and what CLI11 is told of each verb.
#pragma once

#include "verbs.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

// Durations and numbers stay text until the verb is known.
struct arguments {
    place_options on = places_of_environment();
    std::string name;
    std::string prefix;
    std::string shell;
    std::optional<std::string> ttl;  // else of the configuration files, else 30s
    std::string wait = "forever";
    std::string max_hold = "forever";
    std::string min_hold = "0";
    std::string on_loss = "kill";
    std::string interval = "1s";
    std::string lasting = "3s";
    std::string label;
    std::string count;
    std::vector<std::string> also;
    std::optional<std::string> permits;
    std::optional<std::string> busy_exit;
    bool shared = false;
    bool fair = false;
    bool no_token = false;
    bool verbose = false;
    bool quiet = false;
    bool json = false;
    bool names_only = false;
    bool force = false;
    bool yes = false;
    bool create = false;
    std::vector<std::string> command;  // behind --
};

using action = std::function<int()>;

// `run` and `elect`; `status`, `ls` and `watch`; the rest. Each sets `chosen` when it is its turn.
void add_runners(CLI::App& app, arguments& from, action& chosen);
void add_views(CLI::App& app, arguments& from, action& chosen);
void add_tools(CLI::App& app, arguments& from, action& chosen);

// Options that many verbs have.
void add_place(CLI::App& verb, arguments& into);
void add_json(CLI::App& verb, arguments& into);
void add_name(CLI::App& verb, arguments& into, const char* what = "The lock");

// A whole number from 1 to 4294967295; throws a usage failure that names the option.
[[nodiscard]] std::uint32_t count_option(std::string_view option, std::string_view text);

}  // namespace pawl::cli
