// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The parsed command line, and the definition of the verbs for CLI11.
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

// Durations and numbers remain text until the verb is known.
struct arguments {
    location_options location = location_from_environment();
    std::string name;
    std::string prefix;
    std::string shell;
    std::optional<std::string> ttl;  // otherwise from the configuration files, otherwise 30s
    std::string wait = "forever";
    std::string max_hold = "forever";
    std::string min_hold = "0";
    std::string on_loss = "kill";
    std::string durable = "primary";
    std::string interval = "1s";
    std::string lasting = "3s";
    std::string label;
    std::string features;
    std::string role;
    bool guard = false;
    std::string operation;
    std::string count;
    std::string file;
    std::string last = "50";
    std::optional<std::string> older_than;
    std::vector<std::string> also;
    std::optional<std::string> permits;
    std::optional<std::string> token;
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
    bool cluster_node = false;
    bool check = false;
    bool history = false;
    bool schema = false;
    std::vector<std::string> command;  // after --
};

using action = std::function<int()>;

// `run` and `elect`; `status`, `ls` and `watch`; the other verbs. The parsed verb sets
// `selected_action`.
void add_runners(CLI::App& app, arguments& args, action& selected_action);
void add_views(CLI::App& app, arguments& args, action& selected_action);
void add_tools(CLI::App& app, arguments& args, action& selected_action);

// Options that several verbs have. The URL options are those of a location without --local.
void add_url_options(CLI::App& verb, arguments& args);
void add_location_options(CLI::App& verb, arguments& args);
void add_json(CLI::App& verb, arguments& args);
void add_name(CLI::App& verb, arguments& args, const char* description = "The lock");

// A whole number from 1 to 4294967295. Throws a usage failure that names the option.
[[nodiscard]] std::uint32_t count_option(std::string_view option, std::string_view text);
// The token of --token. Throws a usage failure.
[[nodiscard]] fencing_token token_option(std::string_view text);

}  // namespace pawl::cli
