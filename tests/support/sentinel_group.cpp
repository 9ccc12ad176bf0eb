// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sentinel_group.hpp"

#include "eventually.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

using namespace std::chrono_literals;

namespace support {
namespace {

std::string id_of(std::size_t sentinel) {
    return std::string(39, 'a') + std::to_string(sentinel % 10);
}

std::string at(const redis_server& server) {
    return " " + server.host() + " " + std::to_string(server.port());
}

machine machine_of(const sentinel_group_options& options, std::size_t index) {
    return options.machines.empty() ? machine() : options.machines[index % options.machines.size()];
}

}  // namespace

sentinel_group::sentinel_group(const sentinel_group_options& options)
    : has_tls_(!options.certificates.empty()) {
    auto server_config = options.server_config;
    if (has_tls_) server_config.emplace_back("tls-replication yes");
    if (!options.password.empty()) {
        server_config.push_back("requirepass " + options.password);
        server_config.push_back("masterauth " + options.password);
    }
    const auto add_server = [&](std::vector<std::string> config) {
        servers_.push_back(std::make_unique<redis_server>(
            redis_options{.config = std::move(config),
                          .tls = has_tls_,
                          .certificates = options.certificates,
                          .password = options.password,
                          .runs_on = machine_of(options, servers_.size())}));
    };
    add_server(server_config);
    for (std::size_t i = 0; i < options.replicas; ++i) {
        auto config = server_config;
        config.push_back("replicaof" + at(*servers_[0]));
        config.emplace_back("repl-diskless-sync-delay 0");
        add_server(std::move(config));
    }
    const auto quorum = options.sentinels / 2 + 1;
    for (std::size_t i = 0; i < options.sentinels; ++i) {
        std::vector<std::string> config{"sentinel myid " + id_of(i)};
        config.insert(config.end(), options.sentinel_config.begin(), options.sentinel_config.end());
        if (has_tls_) config.emplace_back("tls-replication yes");
        if (!options.sentinel_password.empty()) {
            config.push_back("requirepass " + options.sentinel_password);
            config.push_back("sentinel sentinel-pass " + options.sentinel_password);
        }
        config.push_back("sentinel monitor " + master_name + at(*servers_[0]) + " " +
                         std::to_string(quorum));
        config.push_back("sentinel down-after-milliseconds " + master_name + " 1000");
        config.push_back("sentinel failover-timeout " + master_name + " " +
                         std::to_string(options.failover_timeout.count()));
        if (!options.password.empty())
            config.push_back("sentinel auth-pass " + master_name + " " + options.password);
        for (std::size_t replica = 1; replica < servers_.size(); ++replica)
            config.push_back("sentinel known-replica " + master_name + at(*servers_[replica]));
        auto runs_on = machine_of(options, i);
        runs_on.environment.clear();
        sentinels_.push_back(
            std::make_unique<redis_server>(redis_options{.config = config,
                                                         .tls = has_tls_ || options.sentinel_tls,
                                                         .certificates = options.certificates,
                                                         .sentinel = true,
                                                         .password = options.sentinel_password,
                                                         .runs_on = std::move(runs_on)}));
    }
    const auto know_each_other = [&] {
        introduce_sentinels();
        for (std::size_t i = 0; i < sentinels_.size(); ++i)
            if (field(i, "num-other-sentinels") != std::to_string(sentinels_.size() - 1))
                return false;
        return true;
    };
    if (!eventually(know_each_other)) throw std::runtime_error("the Sentinels do not meet");
}

// Every Sentinel publishes such a message on the master, but only every two seconds.
void sentinel_group::introduce_sentinels() {
    const auto& master = *servers_[0];
    for (std::size_t i = 0; i < sentinels_.size(); ++i)
        (void)servers_[0]->execute({"PUBLISH", "__sentinel__:hello",
                                    sentinels_[i]->host() + "," +
                                        std::to_string(sentinels_[i]->port()) + "," + id_of(i) +
                                        ",0," + master_name + "," + master.host() + "," +
                                        std::to_string(master.port()) + ",0"});
}

std::string sentinel_group::url(const std::string& more) const {
    std::string hosts;
    for (const auto& each : sentinels_)
        hosts.append(hosts.empty() ? "" : ",")
            .append(each->host() + ":" + std::to_string(each->port()));
    return (has_tls_ ? "rediss+sentinel://" : "redis+sentinel://") + hosts + "/" + master_name +
           more;
}

std::string sentinel_group::field(std::size_t sentinel, const std::string& name) {
    const auto reply = sentinels_.at(sentinel)->execute({"SENTINEL", "MASTER", master_name});
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2)
        if (reply.items[i].text == name) return reply.items[i + 1].text;
    return {};
}

std::uint16_t sentinel_group::master_port(std::size_t sentinel) {
    const auto reply =
        sentinels_.at(sentinel)->execute({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_name});
    return static_cast<std::uint16_t>(std::stoi(reply.items.at(1).text));
}

std::uint64_t sentinel_group::epoch(std::size_t sentinel) {
    return std::stoull(field(sentinel, "config-epoch"));
}

redis_server& sentinel_group::master(std::size_t sentinel) {
    const auto port = master_port(sentinel);
    const auto found =
        std::ranges::find_if(servers_, [port](const auto& each) { return each->port() == port; });
    if (found == servers_.end()) throw std::runtime_error("the Sentinels name a foreign server");
    return **found;
}

bool sentinel_group::is_replicated() {
    return eventually([this] {
        for (std::size_t i = 1; i < servers_.size(); ++i) {
            const auto info = servers_[i]->execute({"INFO", "replication"}).text;
            if (info.find("master_link_status:up") == std::string::npos ||
                servers_[i]->keys() != servers_[0]->keys())
                return false;
        }
        return true;
    });
}

// Sentinel refuses while it has not examined the replicas yet.
void sentinel_group::begin_failover() {
    const auto begins = [this] {
        return sentinels_[0]->execute({"SENTINEL", "FAILOVER", master_name}).text == "OK";
    };
    if (!eventually(begins)) throw std::runtime_error("the Sentinels do not begin a failover");
}

bool sentinel_group::eventually_moved_from(std::uint16_t port) {
    return eventually([&] {
        for (std::size_t i = 0; i < sentinels_.size(); ++i)
            if (sentinels_[i]->is_running() && master_port(i) == port) return false;
        return true;
    });
}

}  // namespace support
