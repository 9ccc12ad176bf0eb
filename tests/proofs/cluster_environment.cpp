// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "client_process.hpp"
#include "environments.hpp"
#include "failover_faults.hpp"

#include <support/cluster_group.hpp>

#include <algorithm>

namespace proofs {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t masters = 3;
constexpr std::size_t nodes = 2 * masters;

class cluster_environment : public replicated_servers {
public:
    cluster_environment(std::size_t locks, std::size_t clients)
        : replicated_servers(nodes, clients),
          group_({.masters = masters, .replicas = 1, .machines = machines()}),
          locks_(locks) {}

    [[nodiscard]] std::string url(bool naive) const override {
        return group_.url(naive ? "?layout=redisson" : "");
    }

    // Also the number of elections: a promoted replica has the epoch of the one that it won.
    [[nodiscard]] std::uint64_t newest_epoch() override {
        const std::string field = "cluster_current_epoch:";
        std::uint64_t newest = 0;
        for (std::size_t i = 0; i < nodes; ++i) {
            const auto facts = ask(i, {"CLUSTER", "INFO"}).text;
            newest = std::max<std::uint64_t>(
                newest, std::stoull(facts.substr(facts.find(field) + field.size())));
        }
        return newest;
    }

    std::vector<fault> faults() override {
        auto all = replicated_servers::faults();
        all.push_back({.name = "slot", .can = {}, .run = [this](pace& pace) { move_slot(pace); }});
        return all;
    }

private:
    support::redis_server& server(std::size_t index) override { return group_.node(index); }

    std::size_t slot_of(std::size_t lock) { return group_.slot_of("{" + lock_name(lock) + "}"); }

    // With locks, otherwise its fault would affect nobody.
    std::size_t pick_master(pace& pace) override {
        return group_.owner_of(slot_of(pace.pick(locks_)));
    }

    std::vector<std::size_t> replicas_of(std::size_t master) override {
        return {group_.replica_of(master)};
    }

    void begin_failover(std::size_t master) override {
        group_.begin_failover(group_.replica_of(master));
    }

    bool is_replaced(std::size_t master) override {
        std::size_t views = 0;
        for (std::size_t i = 0; i < nodes; ++i) {
            if (i == master) continue;
            for (const auto& each : group_.views(i))
                if (each.id == group_.id(master) && each.slots.empty()) ++views;
        }
        return views > nodes / 2;
    }

    // The cluster does it.
    void demote(std::size_t) override {}

    bool is_whole() override {
        if (!group_.agrees()) return false;
        for (std::size_t i = 0; i < nodes; ++i) {
            const auto role = ask(i, {"ROLE"});
            const bool is_master = role.items.at(0).text == "master";
            // A master's list of its replicas.
            if (is_master ? role.items.at(2).items.size() != 1
                          : role.items.at(3).text != "connected")
                return false;
        }
        return true;
    }

    // A lock's keys move one by one while it is held and waited for.
    void move_slot(pace& pace) {
        const auto slot = slot_of(pace.pick(locks_));
        const auto from = group_.owner_of(slot);
        std::vector<std::size_t> others;
        for (std::size_t i = 0; i < nodes; ++i)
            if (i != from && ask(i, {"ROLE"}).items.at(0).text == "master") others.push_back(i);
        support::slot_move move(group_, slot, others[pace.pick(others.size())]);
        move.begin();
        pace.pause(0ms, 300ms);
        while (move.move_key())
            pace.pause(0ms, 100ms);
        pace.pause(0ms, 300ms);
        move.move_all_keys();
        move.finish();
        recover(pace);
    }

    support::cluster_group group_;
    const std::size_t locks_;
};

}  // namespace

std::unique_ptr<environment> start_cluster(std::size_t locks, std::size_t clients) {
    return std::make_unique<cluster_environment>(locks, clients);
}

}  // namespace proofs
