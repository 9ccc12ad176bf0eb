// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "zookeeper_ensemble.hpp"

#include "eventually.hpp"
#include "resp.hpp"

#include <stdexcept>

namespace support {

using namespace std::chrono_literals;

// Each server knows the others at a proxy of its own, so that every direction can be cut.
zookeeper_ensemble::zookeeper_ensemble(const zookeeper_options& options) : options_(options) {
    for (std::size_t i = 0; i < count; ++i) {
        quorum_ports_.at(i) = free_port();
        election_ports_.at(i) = free_port();
    }
    for (std::size_t from = 0; from < count; ++from)
        for (std::size_t to = 0; to < count; ++to)
            if (from != to)
                links_.push_back(
                    {from, to, std::make_unique<zookeeper_proxy>(quorum_ports_.at(to), false),
                     std::make_unique<zookeeper_proxy>(election_ports_.at(to), false)});
    for (std::size_t i = 0; i < count; ++i) {
        servers_.emplace_back(new zookeeper_server(options, free_port()));
        servers_.back()->write_config({static_cast<int>(i + 1), lines_of(i)});
        servers_.back()->begin_start();
    }
    static_cast<void>(leader());
    for (const auto& each : servers_)
        if (!each->wait_until_serving())
            throw std::runtime_error("a server does not join: " + each->log());
}

std::vector<std::string> zookeeper_ensemble::lines_of(std::size_t index) const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < count; ++i) {
        auto quorum = quorum_ports_.at(i), election = election_ports_.at(i);
        for (const auto& each : links_)
            if (each.from == index && each.to == i) {
                quorum = each.quorum->port();
                election = each.election->port();
            }
        lines.push_back("server." + std::to_string(i + 1) + "=127.0.0.1:" + std::to_string(quorum) +
                        ":" + std::to_string(election));
    }
    return lines;
}

std::string zookeeper_ensemble::url(const std::string& path, const std::string& more) const {
    std::string hosts;
    for (const auto& each : servers_)
        hosts +=
            (hosts.empty() ? "" : ",") + std::string("127.0.0.1:") + std::to_string(each->port());
    return "zookeeper://" + hosts + path + zookeeper_url_options(options_.tick) + more;
}

std::size_t zookeeper_ensemble::leader() {
    std::size_t leader_index = count;
    const bool is_found = eventually(
        [&] {
            for (std::size_t i = 0; i < count; ++i)
                if (servers_[i]->is_running() && !servers_[i]->is_frozen() &&
                    servers_[i]->role() == "leader")
                    leader_index = i;
            return leader_index < count;
        },
        60s);
    if (!is_found) throw std::runtime_error("the ensemble has no leader: " + servers_[0]->log());
    return leader_index;
}

std::size_t zookeeper_ensemble::follower() { return (leader() + 1) % count; }

void zookeeper_ensemble::cut_off(std::size_t index) {
    for (const auto& each : links_)
        if (each.from == index || each.to == index) {
            each.quorum->freeze(true);
            each.election->freeze(true);
        }
}

void zookeeper_ensemble::heal() {
    for (const auto& each : links_) {
        each.quorum->freeze(false);
        each.election->freeze(false);
    }
}

}  // namespace support
