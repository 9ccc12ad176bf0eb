// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "environments.hpp"
#include "replicated_servers.hpp"
#include "state_watch.hpp"

#include <support/cluster_group.hpp>

#include <algorithm>
#include <optional>

namespace real {

namespace {

using namespace std::chrono_literals;

const std::vector<support::command_words> look{{"MULTI"},
                                               {"INFO", "server", "replication"},
                                               {"CLUSTER", "NODES"},
                                               {"CLUSTER", "INFO"},
                                               {"EXEC"}};

// `slots` are those of the keys.
std::optional<server_state> read_cluster_node(const look_replies& replies,
                                              const std::vector<std::size_t>& slots) {
    const auto& answers = replies.back().items;
    if (answers.size() != 3) return std::nullopt;
    auto state = read_info(answers[0].text);
    for (const auto& each : support::read_cluster_views(answers[1].text)) {
        if (!each.has_flag("myself") || !state.is_master) continue;
        state.epoch = each.epoch;
        for (std::size_t key = 0; key < slots.size(); ++key)
            if (each.has_slot(slots[key])) state.keys.insert(key);
    }
    state.is_serving =
        state.is_master && answers[2].text.find("cluster_state:ok") != std::string::npos;
    return state;
}

class cluster_environment : public replicated_servers {
    static constexpr std::size_t masters = 3;
    static constexpr std::size_t nodes = 2 * masters;

public:
    explicit cluster_environment(const environment_options& options)
        : replicated_servers(nodes, options),
          group_({.masters = masters, .replicas = 1, .machines = machines()}),
          slots_(slots_of(options.keys)),
          watch_(
              unix_sockets(nodes, [this](std::size_t i) -> auto& { return group_.node(i); }), look,
              [this](const look_replies& replies) { return read_cluster_node(replies, slots_); }) {}

    // Redisson's tokens are a counter in the master.
    [[nodiscard]] client_access access(safeguards wanted) override {
        const bool is_naive = wanted == safeguards::naive;
        return {.url = group_.url(is_naive ? "?layout=redisson" : ""), .has_readers = !is_naive};
    }

    [[nodiscard]] std::vector<server_period> history() override {
        std::vector<server_period> result;
        for (std::size_t i = 0; i < nodes; ++i)
            for (const auto& each : watch_.periods(i))
                result.push_back({.server = name_of(server(i)),
                                  .state = each.state,
                                  .from = each.from,
                                  .until = each.until});
        return result;
    }

    [[nodiscard]] std::vector<pid_t> server_processes() override {
        std::vector<pid_t> all;
        for (std::size_t i = 0; i < nodes; ++i)
            all.push_back(server(i).pid());
        return all;
    }

    [[nodiscard]] std::string logs() override {
        std::string text;
        for (std::size_t i = 0; i < nodes; ++i)
            text += end_of_log(server(i));
        return text;
    }

    std::vector<fault> faults() override {
        auto all = replicated_servers::faults();
        all.push_back({.name = slot_fault, .run = [this](pace& pace) { move_slot(pace); }});
        return all;
    }

private:
    support::redis_server& server(std::size_t index) override { return group_.node(index); }

    std::vector<std::size_t> slots_of(const std::vector<std::string>& keys) {
        std::vector<std::size_t> slots;
        for (const auto& each : keys)
            slots.push_back(group_.slot_of(each));
        return slots;
    }

    // With keys of the clients, otherwise its fault would affect nobody.
    std::size_t pick_master(pace& pace) override {
        return group_.owner_of(slots_[pace.pick(slots_.size())]);
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

    // Redis 7 counts the votes of an election again if the replica has lost the place since, and
    // its new master fails soon. It promotes itself, with the epoch of that election, which is
    // smaller than its master's. So all other nodes wait for the master. Valkey 9 does not
    // count them again.
    bool is_indispensable(std::size_t master) override {
        std::vector<support::cluster_view> claims, claims_of_master;
        for (std::size_t i = 0; i < nodes; ++i) {
            if (i == master) continue;
            for (auto& each : group_.views(i)) {
                if (each.slots.empty()) continue;
                if (each.has_flag("myself")) claims.push_back(each);
                if (each.id == group_.id(master)) claims_of_master.push_back(each);
            }
        }
        const auto contradict = [](const auto& claim, const auto& other) {
            return claim.slots == other.slots && claim.epoch < other.epoch;
        };
        return std::ranges::any_of(claims, [&](const auto& claim) {
            return std::ranges::any_of(claims_of_master,
                                       [&](const auto& other) { return contradict(claim, other); });
        });
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

    // The keys of a slot move one by one while clients use them.
    void move_slot(pace& pace) {
        const auto slot = slots_[pace.pick(slots_.size())];
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
    const std::vector<std::size_t> slots_;
    state_watch<server_state> watch_;
};

}  // namespace

std::unique_ptr<environment> start_cluster(const environment_options& options) {
    return std::make_unique<cluster_environment>(options);
}

}  // namespace real
