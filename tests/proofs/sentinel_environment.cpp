// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "environments.hpp"
#include "failover_faults.hpp"

#include <support/sentinel_group.hpp>

#include <algorithm>
#include <map>

namespace proofs {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t servers = 3;

class sentinel_environment : public replicated_servers {
public:
    explicit sentinel_environment(std::size_t clients)
        : replicated_servers(servers, clients),
          group_({.replicas = servers - 1,
                  .sentinels = servers,
                  .failover_timeout = 2000ms,
                  .machines = machines()}) {
        pace start(0, [] {});
        recover(start);
    }

    [[nodiscard]] std::string url(bool naive) const override {
        return group_.url(naive ? "?layout=redisson" : "");
    }

    [[nodiscard]] std::uint64_t newest_epoch() override {
        std::uint64_t newest = 0;
        for (std::size_t i = 0; i < servers; ++i)
            newest = std::max(newest, group_.epoch(i));
        return newest;
    }

private:
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
                for (std::size_t field = 0; field + 1 < replica.items.size(); field += 2)
                    if (replica.items[field].text == "flags" &&
                        replica.items[field + 1].text == "slave")
                        ++usable;
            if (usable != servers - 1) return false;
        }
        return true;
    }

    support::sentinel_group group_;
};

}  // namespace

std::unique_ptr<environment> start_sentinel(std::size_t, std::size_t clients) {
    return std::make_unique<sentinel_environment>(clients);
}

}  // namespace proofs
