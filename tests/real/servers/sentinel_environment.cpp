// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sentinel_environment.hpp"

#include "environments.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace real {

namespace {

using namespace std::chrono_literals;

const std::vector<support::command_words> look_at_server{{"INFO", "server", "replication"}};
const support::command_words ask_for_master{"SENTINEL", "MASTER", support::master_name};
const support::command_words ask_for_address{"SENTINEL", "GET-MASTER-ADDR-BY-NAME",
                                             support::master_name};

std::string field_of(const support::resp_value& pairs, const std::string& name) {
    for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2)
        if (pairs.items[i].text == name) return pairs.items[i + 1].text;
    return {};
}

// Empty if the epoch changed between the replies: the address may be of either.
std::optional<sentinel_view> read_view(const look_replies& replies) {
    const auto epoch = field_of(replies.at(0), "config-epoch");
    const auto& address = replies.at(1).items;
    if (epoch.empty() || address.size() != 2 || field_of(replies.at(2), "config-epoch") != epoch)
        return std::nullopt;
    return sentinel_view{.epoch = std::stoull(epoch),
                         .port = static_cast<std::uint16_t>(std::stoi(address[1].text))};
}

std::optional<server_state> read_server(const look_replies& replies) {
    if (replies.at(0).is_error()) return std::nullopt;
    return read_info(replies[0].text);
}

}  // namespace

sentinel_environment::sentinel_environment(const environment_options& options,
                                           std::size_t other_servers)
    : replicated_servers(server_count, options, other_servers),
      key_count_(options.keys.size()),
      group_({.replicas = server_count - 1,
              .sentinels = server_count,
              .failover_timeout = 2000ms,
              .machines = machines()}),
      server_watch_(
          unix_sockets(server_count, [this](std::size_t i) -> auto& { return group_.server(i); }),
          look_at_server, &read_server),
      view_watch_(
          unix_sockets(server_count, [this](std::size_t i) -> auto& { return group_.sentinel(i); }),
          {ask_for_master, ask_for_address, ask_for_master}, &read_view) {
    pace start(0, [] {});
    recover(start);
}

// Redisson's tokens are a counter in the master.
client_access sentinel_environment::access(safeguards wanted) {
    const bool is_naive = wanted == safeguards::naive;
    return {.url = group_.url(is_naive ? "?layout=redisson" : ""), .has_readers = !is_naive};
}

std::vector<server_period> sentinel_environment::history() {
    std::vector<server_period> result;
    for (std::size_t i = 0; i < server_count; ++i)
        for (const auto& each : server_watch_.periods(i)) {
            server_period period{.server = name_of(server(i)),
                                 .state = each.state,
                                 .from = each.from,
                                 .until = each.until};
            if (each.state.is_master) add_mastership(period, server(i).port());
            result.push_back(std::move(period));
        }
    return result;
}

std::vector<pid_t> sentinel_environment::server_processes() {
    std::vector<pid_t> all;
    for (std::size_t i = 0; i < server_count; ++i)
        all.insert(all.end(), {server(i).pid(), group_.sentinel(i).pid()});
    return all;
}

std::string sentinel_environment::logs() {
    std::string text;
    for (std::size_t i = 0; i < server_count; ++i)
        text += end_of_log(server(i)) + end_of_log(group_.sentinel(i));
    return text;
}

std::string sentinel_environment::node_name() {
    std::string name;
    for (std::size_t i = 0; i < server_count; ++i)
        name += (i == 0 ? support::master_name + "=" : "+") + name_of(group_.sentinel(i));
    return name;
}

void sentinel_environment::add_mastership(server_period& period, std::uint16_t port) {
    period.state.is_serving = true;
    for (std::size_t key = 0; key < key_count_; ++key)
        period.state.keys.insert(key);
    for (std::size_t i = 0; i < server_count; ++i)
        for (const auto& each : view_watch_.periods(i))
            if (each.state.port == port && each.from.earliest <= period.until.latest)
                period.state.epoch = std::max(period.state.epoch, each.state.epoch);
}

// The port that a majority names; 0: none.
std::uint16_t sentinel_environment::named_port() {
    std::map<std::uint16_t, std::size_t> votes;
    for (std::size_t i = 0; i < server_count; ++i)
        if (const auto port = group_.master_port(i); ++votes[port] > server_count / 2) return port;
    return 0;
}

std::size_t sentinel_environment::master_index() {
    for (std::size_t i = 0; i < server_count; ++i)
        if (server(i).port() == named_port()) return i;
    throw std::runtime_error("the Sentinels name a foreign server");
}

std::vector<std::size_t> sentinel_environment::replicas_of(std::size_t master) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < server_count; ++i)
        if (i != master) others.push_back(i);
    return others;
}

bool sentinel_environment::is_replaced(std::size_t master) {
    const auto port = named_port();
    return port != 0 && port != server(master).port();
}

// The Sentinels do it, too, but only after some 10 s.
void sentinel_environment::demote(std::size_t replaced) {
    const auto port = named_port();
    for (std::size_t i = 0; i < server_count; ++i)
        if (i != replaced && server(i).port() == port)
            (void)ask(replaced, {"REPLICAOF", server(i).host(), std::to_string(port)});
}

bool sentinel_environment::is_whole() {
    const auto port = named_port();
    for (std::size_t i = 0; i < server_count; ++i) {
        if (group_.master_port(i) != port) return false;
        const auto role = ask(i, {"ROLE"});
        const bool is_master = role.items.at(0).text == "master";
        if (is_master != (server(i).port() == port)) return false;
        if (!is_master &&
            (role.items.at(2).text != std::to_string(port) || role.items.at(3).text != "connected"))
            return false;
    }
    return has_two_usable_replicas();
}

// In the view of each Sentinel: otherwise it begins no failover.
bool sentinel_environment::has_two_usable_replicas() {
    for (std::size_t i = 0; i < server_count; ++i) {
        std::size_t usable = 0;
        const auto reply =
            group_.sentinel(i).execute({"SENTINEL", "REPLICAS", support::master_name});
        for (const auto& replica : reply.items)
            usable += field_of(replica, "flags") == "slave" ? 1 : 0;
        if (usable != server_count - 1) return false;
    }
    return true;
}

std::unique_ptr<environment> start_sentinel(const environment_options& options) {
    return std::make_unique<sentinel_environment>(options);
}

}  // namespace real
