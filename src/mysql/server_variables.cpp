// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_variables.hpp"

#include <algorithm>
#include <charconv>

namespace pawl::mysql {
namespace {

constexpr std::size_t longest_identity = 255;  // in the table `meta`

}  // namespace

server_variables variables_in(const std::vector<sql::row>& rows) {
    server_variables all;
    for (const auto& each : rows)
        if (each.size() >= 2 && each[0] && each[1]) {
            auto name = *each[0];
            std::ranges::transform(name, name.begin(), [](char c) {
                return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            });
            all[name] = *each[1];
        }
    return all;
}

const std::string& value_of(const server_variables& all, std::string_view name) {
    static const std::string none;
    const auto position = all.find(name);
    return position == all.end() ? none : position->second;
}

bool is_read_only(std::string_view value) noexcept {
    return !value.empty() && value != "0" && value != "OFF";
}

std::int64_t uptime_of(const server_variables& all) {
    const auto& text = value_of(all, "uptime");
    std::uint64_t seconds = 0;  // the server shows -1 as 2^64 - 1
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    return static_cast<std::int64_t>(seconds);
}

bool is_galera(const server_variables& all) { return value_of(all, "wsrep_on") == "ON"; }

bool is_cluster(const server_variables& all) {
    return is_galera(all) || !value_of(all, "group_replication_group_name").empty();
}

std::string identity_of(const server_variables& all) {
    if (is_galera(all)) return "galera " + value_of(all, "wsrep_cluster_state_uuid");
    const auto& group = value_of(all, "group_replication_group_name");
    if (!group.empty()) return "group " + group;
    const auto& uuid = value_of(all, "server_uuid");
    if (!uuid.empty()) return uuid;
    const auto text = value_of(all, "server_uid") + " " + value_of(all, "hostname") + ":" +
                      value_of(all, "port") + ":" + value_of(all, "datadir");
    return text.substr(0, longest_identity);
}

}  // namespace pawl::mysql
