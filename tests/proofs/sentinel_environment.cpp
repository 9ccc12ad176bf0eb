// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "environments.hpp"
#include "replicated_servers.hpp"
#include "state_watch.hpp"

#include <support/sentinel_group.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace proofs {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t servers = 3;

// What a Sentinel says of the master.
struct sentinel_view {
    std::uint64_t epoch = 0;
    std::uint16_t port = 0;

    [[nodiscard]] bool operator==(const sentinel_view&) const = default;
};

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

class sentinel_environment : public replicated_servers {
public:
    explicit sentinel_environment(const environment_options& options)
        : replicated_servers(servers, options),
          key_count_(options.keys.size()),
          group_({.replicas = servers - 1,
                  .sentinels = servers,
                  .failover_timeout = 2000ms,
                  .machines = machines()}),
          server_watch_(
              unix_sockets(servers, [this](std::size_t i) -> auto& { return group_.server(i); }),
              look_at_server, &read_server),
          view_watch_(
              unix_sockets(servers, [this](std::size_t i) -> auto& { return group_.sentinel(i); }),
              {ask_for_master, ask_for_address, ask_for_master}, &read_view) {
        pace start(0, [] {});
        recover(start);
    }

    // Redisson's tokens are a counter in the master.
    [[nodiscard]] client_access access(token_source tokens) const override {
        return {.url = group_.url(tokens == token_source::naive ? "?layout=redisson" : "")};
    }

    // A server knows that it is the master, and the Sentinels know with which epoch.
    [[nodiscard]] std::vector<server_period> history() override {
        std::vector<server_period> result;
        for (std::size_t i = 0; i < servers; ++i)
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

    [[nodiscard]] std::vector<pid_t> server_processes() override {
        std::vector<pid_t> all;
        for (std::size_t i = 0; i < servers; ++i)
            all.insert(all.end(), {server(i).pid(), group_.sentinel(i).pid()});
        return all;
    }

    [[nodiscard]] std::string logs() override {
        std::string text;
        for (std::size_t i = 0; i < servers; ++i)
            text += end_of_log(server(i)) + end_of_log(group_.sentinel(i));
        return text;
    }

private:
    void add_mastership(server_period& period, std::uint16_t port) {
        period.state.is_serving = true;
        for (std::size_t key = 0; key < key_count_; ++key)
            period.state.keys.insert(key);
        for (std::size_t i = 0; i < servers; ++i)
            for (const auto& each : view_watch_.periods(i))
                if (each.state.port == port && each.from.earliest <= period.until.latest)
                    period.state.epoch = std::max(period.state.epoch, each.state.epoch);
    }

    support::redis_server& server(std::size_t index) override { return group_.server(index); }

    // The port that a majority names; 0: none.
    std::uint16_t named_port() {
        std::map<std::uint16_t, std::size_t> votes;
        for (std::size_t i = 0; i < servers; ++i)
            if (const auto port = group_.master_port(i); ++votes[port] > servers / 2) return port;
        return 0;
    }

    std::size_t pick_master(pace&) override {
        for (std::size_t i = 0; i < servers; ++i)
            if (server(i).port() == named_port()) return i;
        throw std::runtime_error("the Sentinels name a foreign server");
    }

    std::vector<std::size_t> replicas_of(std::size_t master) override {
        std::vector<std::size_t> others;
        for (std::size_t i = 0; i < servers; ++i)
            if (i != master) others.push_back(i);
        return others;
    }

    void begin_failover(std::size_t) override { group_.begin_failover(); }

    bool is_replaced(std::size_t master) override {
        const auto port = named_port();
        return port != 0 && port != server(master).port();
    }

    // Sentinels try again with another election.
    bool is_indispensable(std::size_t) override { return false; }

    // The Sentinels do it, too, but only after some 10 s.
    void demote(std::size_t replaced) override {
        const auto port = named_port();
        for (std::size_t i = 0; i < servers; ++i)
            if (i != replaced && server(i).port() == port)
                (void)ask(replaced, {"REPLICAOF", server(i).host(), std::to_string(port)});
    }

    bool is_whole() override {
        const auto port = named_port();
        for (std::size_t i = 0; i < servers; ++i) {
            if (group_.master_port(i) != port) return false;
            const auto role = ask(i, {"ROLE"});
            const bool is_master = role.items.at(0).text == "master";
            if (is_master != (server(i).port() == port)) return false;
            if (!is_master && (role.items.at(2).text != std::to_string(port) ||
                               role.items.at(3).text != "connected"))
                return false;
        }
        return has_two_usable_replicas();
    }

    // In the view of each Sentinel: otherwise it begins no failover.
    bool has_two_usable_replicas() {
        for (std::size_t i = 0; i < servers; ++i) {
            std::size_t usable = 0;
            const auto reply =
                group_.sentinel(i).execute({"SENTINEL", "REPLICAS", support::master_name});
            for (const auto& replica : reply.items)
                usable += field_of(replica, "flags") == "slave" ? 1 : 0;
            if (usable != servers - 1) return false;
        }
        return true;
    }

    const std::size_t key_count_;
    support::sentinel_group group_;
    state_watch<server_state> server_watch_;
    state_watch<sentinel_view> view_watch_;
};

}  // namespace

std::unique_ptr<environment> start_sentinel(const environment_options& options) {
    return std::make_unique<sentinel_environment>(options);
}

}  // namespace proofs
