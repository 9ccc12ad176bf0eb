// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../config/url_passwords.hpp"
#include "../ui/failure.hpp"
#include "../ui/json.hpp"
#include "../ui/style.hpp"
#include "verbs.hpp"

#if PAWL_WITH_REDIS
#include <pawl/redis_rights.hpp>
#endif

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::cli {

#if PAWL_WITH_REDIS
namespace {

using redis::access_rule;

constexpr std::string_view password_place = "PASSWORD";

bool is_of_sentinels(const access_rule& rule) {
    return rule.kind == access_rule::server_kind::sentinel;
}

std::string user_of(const access_rule& rule) { return rule.user.empty() ? "locks" : rule.user; }

std::string line_of(const access_rule& rule) { return rule.line(user_of(rule), password_place); }

void write(json& text, std::string_view name, const std::vector<std::string>& values) {
    text.key(name).begin_array();
    for (const auto& each : values)
        text.text(each);
    text.end_array();
}

std::string as_json(const std::vector<access_rule>& rules) {
    json text;
    text.begin_array();
    for (const auto& each : rules) {
        text.begin_object().field("for", is_of_sentinels(each) ? "sentinel" : "server");
        text.field("user", user_of(each));
        write(text, "keys", each.keys);
        write(text, "channels", each.channels);
        write(text, "commands", each.commands);
        text.field("line", line_of(each)).end_object();
    }
    return text.end_array().str();
}

// The features, separated by commas.
redis::used_features features_of(const acl_options& options) {
    redis::used_features result;
    result.cluster_node = options.cluster_node;
    if (options.features.empty()) return result;
    result.modes = result.latches = result.admin = false;
    std::string_view rest = options.features;
    while (true) {
        const auto end = std::min(rest.find(','), rest.size());
        const auto feature = rest.substr(0, end);
        if (feature == "modes")
            result.modes = true;
        else if (feature == "latches")
            result.latches = true;
        else if (feature == "admin")
            result.admin = true;
        else if (feature == "replicas")
            result.replicas = true;
        else if (feature == "disk")
            result.disk = true;
        else if (feature != "exclusive")
            throw failure(exit_code::usage,
                          "There is no feature '" + std::string(feature) +
                              "' for --for; use exclusive, modes, latches, admin, replicas or "
                              "disk, separated by commas.");
        if (end == rest.size()) return result;
        rest.remove_prefix(end + 1);
    }
}

// Of features that were named.
void check_for_redlock(const redis::used_features& features) {
    const auto* absent = features.latches    ? "latches"
                         : features.replicas ? "replicas"
                         : features.disk     ? "disk"
                                             : nullptr;
    if (absent == nullptr) return;
    throw failure(exit_code::usage, "Redlock has no latches and no durable acquires; leave " +
                                        std::string(absent) + " out of --for.");
}

std::vector<access_rule> rules_for(const std::string& url, const redis::used_features& features,
                                   const location_options& location) {
    try {
        return redis::least_rights(url, features);
    } catch (const error&) {
        // A URL that is not valid is reported as by the other verbs, with its source.
        static_cast<void>(find_shared_location(location));
        throw;
    }
}

}  // namespace

int acl(const acl_options& options) {
    const auto features = features_of(options);
    // The password need not exist yet.
    const auto url = without_password_places(find_url(options.location));
    const bool is_redlock = url.starts_with("redlock");
    if (!url.starts_with("redis") && !is_redlock) {
        if (!url.empty()) static_cast<void>(find_shared_location(options.location));
        throw failure(exit_code::usage,
                      "Only Redis and Valkey have users with rights; name a server, as in: pawl "
                      "acl --on redis://HOST.");
    }
    if (is_redlock && !options.features.empty()) check_for_redlock(features);
    const auto rules = rules_for(url, features, options.location);
    if (options.json) {
        std::cout << as_json(rules) << '\n';
        return static_cast<int>(exit_code::ok);
    }
    const auto* servers = is_redlock ? "# For the nodes, also for the replicas of a master:\n"
                                     : "# For the master and its replicas:\n";
    for (const auto& each : rules) {
        if (rules.size() > 1)
            std::cout << (is_of_sentinels(each) ? "# For the Sentinels:\n" : servers);
        std::cout << printable(line_of(each)) << '\n';
    }
    std::cout.flush();
    say("Servers and Sentinels also have the user 'default', who may do everything, and without a "
        "password unless one is set; switch it off with: ACL SETUSER default off.");
    return static_cast<int>(exit_code::ok);
}
#else
int acl(const acl_options&) {
    throw failure(exit_code::usage,
                  "This command is built without Redis, and only Redis and Valkey have users with "
                  "rights; build it with -DPAWL_WITH_REDIS=ON.");
}
#endif

}  // namespace pawl::cli
