// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_sentinels.hpp"

#include "replies.hpp"

#include <algorithm>
#include <array>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

std::string id_of(std::size_t sentinel) { return std::string(39, 'e') + std::to_string(sentinel); }

redis::reply fields(std::initializer_list<std::pair<const char*, std::string>> named) {
    std::vector<redis::reply> items;
    for (const auto& [name, value] : named) {
        items.push_back(string_reply(name));
        items.push_back(string_reply(value));
    }
    return array_reply(std::move(items));
}

}  // namespace

simulated_sentinels::simulated_sentinels(scheduler& loop, prng random, const network_faults& faults,
                                         const sentinels_plan& plan)
    : loop_(loop), random_(random), plan_(plan), sentinels_(plan.sentinels) {
    for (std::size_t i = 0; i <= plan.replicas; ++i)
        servers_.push_back(std::make_unique<server_state>(
            loop, random_.fork(), faults, std::string(1, static_cast<char>('a' + i))));
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        servers_[i]->is_replica = i > 0;
        network(i).server().set_replica(i > 0);
        network(i).set_replicas([this, i](std::uint64_t writes) {
            return std::ranges::count_if(servers_, [&](const auto& each) {
                return each->is_replica && each->is_synced && each->master == i &&
                       each->network.is_up() && each->replicated_writes >= writes;
            });
        });
        replicate(i);
    }
    for (std::size_t i = 0; i < sentinels_.size(); ++i) {
        sentinels_[i].heard.resize(servers_.size());
        watch(i);
        gossip(i);
    }
}

std::size_t simulated_sentinels::newest() const {
    std::size_t result = 0;
    for (std::size_t i = 1; i < sentinels_.size(); ++i)
        if (sentinels_[i].epoch > sentinels_[result].epoch) result = i;
    return result;
}

std::size_t simulated_sentinels::master() const { return sentinels_[newest()].master; }

bool simulated_sentinels::has_majority() const {
    const auto count =
        std::ranges::count(sentinels_, sentinels_[newest()].epoch, &sentinel_state::epoch);
    return static_cast<std::size_t>(count) > sentinels_.size() / 2;
}

std::optional<instant> simulated_sentinels::has_majority_above(std::uint64_t epoch) const {
    const auto later = majorities_.upper_bound(epoch);
    return later == majorities_.end() ? std::nullopt : std::optional(later->second);
}

bool simulated_sentinels::is_agreed() const {
    const auto& first = sentinels_[newest()];
    if (std::ranges::any_of(sentinels_,
                            [&](const auto& each) { return each.epoch != first.epoch; }))
        return false;
    for (std::size_t i = 0; i < servers_.size(); ++i)
        if (!servers_[i]->network.is_up() || servers_[i]->is_replica == (i == first.master))
            return false;
    return true;
}

bool simulated_sentinels::answers(std::size_t sentinel, std::size_t server) const {
    const auto& asked = servers_[server]->network;
    return asked.is_up() && !asked.is_frozen() && is_connected(node_of_sentinel(sentinel), server);
}

bool simulated_sentinels::is_down(std::size_t sentinel, std::size_t server) const {
    return loop_.now() - sentinels_[sentinel].heard[server] > plan_.down_after;
}

void simulated_sentinels::watch(std::size_t sentinel) {
    loop_.schedule_after(random_.between(20ms, plan_.check_pause_high), [this, sentinel] {
        for (std::size_t i = 0; i < servers_.size(); ++i)
            if (answers(sentinel, i)) sentinels_[sentinel].heard[i] = loop_.now();
        check(sentinel);
        demote_wrong_masters(sentinel);
        watch(sentinel);
    });
}

// A failover that most Sentinels want: they cannot reach the master.
void simulated_sentinels::check(std::size_t sentinel) {
    auto& own = sentinels_[sentinel];
    if (!is_down(sentinel, own.master)) {
        own.election_at = instant(-1);
        return;
    }
    if (own.election_at < 0ns) own.election_at = loop_.now() + random_.between(100ms, 1s);
    if (loop_.now() < own.election_at) return;
    own.election_at = loop_.now() + random_.between(1s, 2s);
    const auto epoch = own.current_epoch + 1;
    if (wins_election(sentinel, epoch)) static_cast<void>(promote(sentinel, epoch));
}

// Each Sentinel votes once for each epoch, and only about a master that it cannot reach either.
bool simulated_sentinels::wins_election(std::size_t sentinel, std::uint64_t epoch) {
    std::size_t votes = 0, agreeing = 0;
    for (std::size_t i = 0; i < sentinels_.size(); ++i) {
        auto& voter = sentinels_[i];
        const bool is_reached =
            i == sentinel || is_connected(node_of_sentinel(sentinel), node_of_sentinel(i));
        if (!is_reached) continue;
        if (is_down(i, sentinels_[sentinel].master)) ++agreeing;
        if (voter.voted_epoch >= epoch || voter.current_epoch >= epoch) continue;
        voter.voted_epoch = voter.current_epoch = epoch;
        ++votes;
    }
    const auto majority = sentinels_.size() / 2 + 1;
    return votes >= majority && agreeing >= majority;
}

std::size_t simulated_sentinels::best_replica(std::size_t sentinel) const {
    auto best = servers_.size();
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        const auto& each = *servers_[i];
        const bool is_usable = each.is_replica && each.is_synced && answers(sentinel, i) &&
                               i != sentinels_[sentinel].master;
        if (!is_usable) continue;
        if (best == servers_.size() || each.replicated_writes > servers_[best]->replicated_writes)
            best = i;
    }
    return best;
}

bool simulated_sentinels::promote(std::size_t sentinel, std::uint64_t epoch) {
    const auto replica = best_replica(sentinel);
    if (replica == servers_.size()) return false;
    auto& promoted = *servers_[replica];
    const auto old_master = sentinels_[sentinel].master;
    ++promoted.replication;
    promoted.is_replica = false;
    promoted.claims_since = instant(-1);
    network(replica).change_data([&](simulated_redis& redis) {
        redis.set_replica(false);
        redis.roll_back(std::move(promoted.replicated));
    });
    promoted.replicated = {};
    network(replica).break_clients();
    if (promoted_) promoted_(replica, old_master, epoch);
    sentinels_[sentinel].current_epoch = std::max(sentinels_[sentinel].current_epoch, epoch);
    adopt(sentinel, replica, epoch);
    return true;
}

bool simulated_sentinels::fail_over(std::size_t sentinel) {
    auto& own = sentinels_[sentinel];
    // Two forced failovers at Sentinels that do not know of each other break the order of the
    // epochs: docs/contributing/models.md.
    if (!is_agreed()) return false;
    return promote(sentinel, own.current_epoch + 1);
}

void simulated_sentinels::adopt(std::size_t sentinel, std::size_t master, std::uint64_t epoch) {
    auto& own = sentinels_[sentinel];
    const auto port_text = [](std::size_t server) {
        return "127.0.0.1 " + std::to_string(first_server_port + server);
    };
    const auto payload =
        std::string(master_name) + " " + port_text(own.master) + " " + port_text(master);
    own.current_epoch = std::max(own.current_epoch, epoch);
    own.epoch = epoch;
    own.master = master;
    own.heard[master] = loop_.now();
    const auto same = std::ranges::count(sentinels_, epoch, &sentinel_state::epoch);
    if (static_cast<std::size_t>(same) > sentinels_.size() / 2)
        majorities_.try_emplace(epoch, loop_.now());
    for (const auto& each : own.subscribers) {
        const auto alive = each.lock();
        if (!alive || !reaches(alive->process(), sentinel)) continue;
        loop_.schedule_after(random_.between(50us, 2ms), [each, payload] {
            const auto receiver = each.lock();
            if (!receiver) return;
            receiver->process().post([each, payload] {
                if (const auto still = each.lock()) still->on_announcement(payload);
            });
        });
    }
}

void simulated_sentinels::gossip(std::size_t sentinel) {
    loop_.schedule_after(random_.between(10ms, plan_.gossip_delay_high), [this, sentinel] {
        const auto from = sentinels_[sentinel];
        for (std::size_t i = 0; i < sentinels_.size(); ++i) {
            if (i == sentinel || cut_.contains({node_of_sentinel(sentinel), node_of_sentinel(i)}))
                continue;
            auto& to = sentinels_[i];
            to.current_epoch = std::max(to.current_epoch, from.current_epoch);
            if (to.epoch < from.epoch) adopt(i, from.master, from.epoch);
        }
        gossip(sentinel);
    });
}

// A Sentinel waits before it believes that a server is wrong and not itself.
void simulated_sentinels::demote_wrong_masters(std::size_t sentinel) {
    const auto& own = sentinels_[sentinel];
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        auto& each = *servers_[i];
        if (i == own.master || !answers(sentinel, i)) continue;
        if (each.is_replica && each.master != own.master && own.epoch == sentinels_[newest()].epoch)
            demote(i, own.master);
        // Only a Sentinel with the newest configuration: the others are about to hear of it.
        if (each.is_replica || own.epoch != sentinels_[newest()].epoch) continue;
        if (each.claims_since < 0ns) {
            each.claims_since = loop_.now();
            each.demoted_after = random_.between(100ms, plan_.demotion_delay_high);
        } else if (loop_.now() - each.claims_since >= each.demoted_after) {
            demote(i, own.master);
        }
    }
}

// SLAVEOF and CLIENT KILL in one transaction; then the data of the new master.
void simulated_sentinels::demote(std::size_t demoted, std::size_t master) {
    auto& of = *servers_[demoted];
    const bool was_master = !of.is_replica;
    ++of.replication;
    of.is_replica = true;
    of.is_synced = false;
    of.replicated_writes = 0;
    of.master = master;
    of.claims_since = instant(-1);
    if (!was_master) return;
    network(demoted).change_data([](simulated_redis& redis) {
        redis.set_replica(true);
        redis.flush_all();
    });
    if (!random_.happens(plan_.kept_connections)) network(demoted).break_clients();
    if (demoted_) demoted_(demoted);
}

void simulated_sentinels::replicate(std::size_t replica) {
    loop_.schedule_after(random_.between(5ms, 150ms), [this, replica] {
        auto& to = *servers_[replica];
        const bool is_fed = to.is_replica && network(to.master).is_up() &&
                            !network(to.master).is_frozen() && to.network.is_up() &&
                            !servers_[to.master]->is_replica && is_connected(to.master, replica);
        if (is_fed) {
            auto data = std::make_shared<simulated_redis::snapshot>(
                network(to.master).server().take_snapshot());
            to.last_data = std::max(to.last_data + 1ns,
                                    loop_.now() + random_.between(0ms, plan_.replication_lag_high));
            loop_.schedule_at(to.last_data, [&to, data, writes = network(to.master).writes(),
                                             replication = to.replication] {
                if (to.replication != replication) return;
                to.replicated = std::move(*data);
                to.replicated_writes = writes;
                to.is_synced = true;
            });
        }
        replicate(replica);
    });
}

void simulated_sentinels::restart(std::size_t server) {
    if (network(server).is_up()) return;
    network(server).start_server(network(server).server().take_snapshot());
}

void simulated_sentinels::isolate_sentinel(std::size_t sentinel) {
    const auto own = node_of_sentinel(sentinel);
    for (std::size_t node = 0; node < servers_.size() + sentinels_.size(); ++node) {
        cut(own, node);
        cut(node, own);
    }
}

// A program's connection to a Sentinel does not outlive the cut.
void simulated_sentinels::heal_programs() {
    if (cut_programs_.empty()) return;
    cut_programs_.clear();
    for (const auto& of : sentinels_)
        for (const auto& each : of.subscribers)
            if (const auto alive = each.lock())
                alive->process().post([each] {
                    if (const auto still = each.lock()) still->on_reconnected();
                });
}

void simulated_sentinels::stop_faults() {
    heal();
    heal_programs();
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        network(i).stop_faults();
        network(i).thaw();
        restart(i);
    }
}

void simulated_sentinels::subscribe(std::size_t sentinel,
                                    const std::shared_ptr<subscriber>& added) {
    auto& all = sentinels_.at(sentinel).subscribers;
    std::erase_if(all, [](const auto& each) { return each.expired(); });
    all.push_back(added);
}

redis::reply simulated_sentinels::describe_master(const sentinel_state& of) const {
    return fields({{"name", std::string(master_name)},
                   {"flags", "master"},
                   {"config-epoch", std::to_string(of.epoch)},
                   {"quorum", std::to_string(sentinels_.size() / 2 + 1)},
                   {"num-slaves", std::to_string(servers_.size() - 1)}});
}

redis::reply simulated_sentinels::describe_others(std::size_t asked) const {
    std::vector<redis::reply> others;
    for (std::size_t i = 0; i < sentinels_.size(); ++i)
        if (i != asked)
            others.push_back(fields({{"runid", id_of(i)},
                                     {"ip", "127.0.0.1"},
                                     {"port", std::to_string(first_sentinel_port + i)}}));
    return array_reply(std::move(others));
}

redis::reply simulated_sentinels::answer(std::size_t sentinel,
                                         std::span<const std::string> command) const {
    const auto& own = sentinels_.at(sentinel);
    const auto& subcommand = command.size() > 1 ? command[1] : command[0];
    if (subcommand == "MYID") return string_reply(id_of(sentinel));
    if (subcommand == "MASTER") return describe_master(own);
    if (subcommand == "SENTINELS") return describe_others(sentinel);
    if (subcommand == "GET-MASTER-ADDR-BY-NAME")
        return array_reply({string_reply("127.0.0.1"),
                            string_reply(std::to_string(first_server_port + own.master))});
    return error_reply("ERR unknown command");
}

}  // namespace pawl::simulation
