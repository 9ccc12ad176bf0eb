// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/redis_rights.hpp>

#include "../common/keys.hpp"
#include "../sentinel/query.hpp"
#include "../transport/options.hpp"
#include "command_table.hpp"
#include "key_patterns.hpp"

#include <pawl/error.hpp>
#include <pawl/redlock.hpp>

namespace pawl::redis {

std::string access_rule::line(std::string_view user_name, std::string_view password) const {
    // Redis 6.2 gives a reset user all channels.
    std::string text = "user ";
    text.append(user_name).append(" reset on >").append(password).append(" resetchannels");
    for (const auto& each : keys)
        text += " ~" + each;
    for (const auto& each : channels)
        text += " &" + each;
    for (const auto& each : commands)
        text += " +" + each;
    return text;
}

std::vector<access_rule> least_rights(const options& server_options,
                                      const used_features& features) {
    const key_scheme scheme(server_options.name_space, server_options.key);  // checks them
    if (features.cluster_node && server_options.layout != key_layout::redisson &&
        !std::holds_alternative<cluster>(server_options.where))
        throw error(errc::bad_option,
                    "A single node of a cluster is only for Redisson's layout; write "
                    "redis+cluster://HOST1,HOST2,HOST3, or add layout=redisson.");
    std::vector<access_rule> rules(1);
    rules[0].user = server_options.user;
    rules[0].keys = key_patterns(server_options);
    rules[0].channels = channel_patterns(server_options, features);
    rules[0].commands = server_commands(server_options, features);
    const auto* set = std::get_if<sentinels>(&server_options.where);
    if (set == nullptr) return rules;
    rules.emplace_back();
    rules[1].kind = access_rule::server_kind::sentinel;
    rules[1].user = set->user;
    rules[1].channels = {std::string(switch_channel)};
    rules[1].commands = sentinel_commands();
    return rules;
}

namespace {

std::vector<access_rule> least_rights(const redlock::options& settings,
                                      const used_features& features) {
    auto common = features;
    common.latches = common.modes = false;  // which are other commands there
    // All nodes have the same user; the Sentinels of a node have theirs.
    options node;
    for (const auto& each : settings.nodes)
        if (const auto* set = std::get_if<sentinels>(&each)) node.where = *set;
    node.user = settings.user;
    node.database = settings.database;
    node.name_space = settings.name_space;
    node.key = settings.key;
    node.layout = settings.layout;
    // The locks' keys are Redisson's, but those of Pawl's waiters are as in the native layout.
    auto stored = node;
    stored.layout = key_layout::native;
    const bool is_redisson = node.layout == key_layout::redisson;
    if (is_redisson && stored.key.empty()) stored.key = "{name}";
    auto rules = least_rights(stored, common);
    if (settings.fenced) rules[0].keys.push_back(redlock_pattern(node));
    if (is_redisson) {
        const auto channels =
            channel_patterns(node, {.modes = false, .latches = false, .admin = false});
        rules[0].channels.insert(rules[0].channels.end(), channels.begin(), channels.end());
    }
    rules[0].commands = redlock_commands(node, settings.fenced, features);
    return rules;
}

}  // namespace

std::vector<access_rule> least_rights(std::string_view url, const used_features& features) {
    if (core::scheme_of(url).starts_with("redlock"))
        return least_rights(redlock::parse(url), features);
    return least_rights(parse_options(url), features);
}

}  // namespace pawl::redis
