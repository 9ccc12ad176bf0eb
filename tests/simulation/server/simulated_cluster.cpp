// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "simulated_cluster.hpp"

#include <algorithm>
#include <array>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

constexpr auto failure_check_pause = 100ms;
constexpr std::size_t no_node = cluster_view::no_node;

}  // namespace

simulated_cluster::cluster_node::cluster_node(scheduler& loop, prng random,
                                              const network_faults& faults, std::size_t index,
                                              std::size_t count)
    : network(loop, random, faults, std::string(1, static_cast<char>('a' + index))),
      view(index, count),
      heard(count) {}

simulated_cluster::simulated_cluster(scheduler& loop, prng random, const network_faults& faults,
                                     const cluster_plan& plan)
    : loop_(loop), random_(random), plan_(plan) {
    const auto count = plan.masters * (1 + plan.replicas);
    for (std::size_t i = 0; i < count; ++i)
        nodes_.push_back(std::make_unique<cluster_node>(loop, random_.fork(), faults, i, count));
    for (std::size_t i = 0; i < count; ++i) {
        auto& view = nodes_[i]->view;
        for (std::size_t other = 0; other < count; ++other) {
            view.set_epoch(other, other + 1);
            if (other >= plan.masters) view.replicate(other, other % plan.masters);
        }
        for (std::size_t master = 0; master < plan.masters; ++master)
            view.assign(master * slot_count / plan.masters,
                        (master + 1) * slot_count / plan.masters - 1, master);
        network(i).server().join_cluster(
            view, [this, i](auto channel, auto payload) { publish(i, channel, payload); });
        network(i).set_replicas([this, i](std::uint64_t writes) {
            return std::ranges::count_if(nodes_, [&](const auto& each) {
                return each->view.master() == i && each->is_synced && each->replicated_from == i &&
                       each->network.is_up() && each->replicated_writes >= writes;
            });
        });
        gossip(i);
        replicate(i);
    }
    detect_failures();
}

std::size_t simulated_cluster::owner_of(std::size_t slot) const {
    std::size_t owner = no_node;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& view = nodes_[i]->view;
        if (!view.is_master() || view.owner_of(slot) != i) continue;
        if (owner == no_node || view.epoch_of(i) > nodes_[owner]->view.epoch_of(owner)) owner = i;
    }
    return owner;
}

std::size_t simulated_cluster::replica_of(std::size_t node) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i]->view.master() == node) return i;
    return no_node;
}

bool simulated_cluster::reaches(std::size_t from, std::size_t to) const {
    return is_up(from) && is_up(to) && !cut_.contains({from, to});
}

bool simulated_cluster::are_connected(std::size_t a, std::size_t b) const {
    return reaches(a, b) && reaches(b, a);
}

void simulated_cluster::isolate(std::size_t node) {
    for (std::size_t other = 0; other < nodes_.size(); ++other) {
        cut_bus(node, other);
        cut_bus(other, node);
    }
}

// The messages between two nodes arrive in order.
instant simulated_cluster::arrival(std::size_t from, std::size_t to) {
    auto& last = last_arrival_[{from, to}];
    last = std::max(last + 1ns, loop_.now() + random_.between(50us, plan_.bus_latency_high));
    return last;
}

void simulated_cluster::send(std::size_t from, std::size_t to, cluster_view::message message) {
    if (!reaches(from, to)) return;
    loop_.schedule_at(arrival(from, to), [this, from, to, message = std::move(message)] {
        if (reaches(from, to)) receive(to, from, message);
    });
}

void simulated_cluster::broadcast(std::size_t from) {
    const auto& view = nodes_[from]->view;
    if (view.is_master()) {
        const auto [first, is_new] = first_with_epoch_.try_emplace(view.epoch_of(from), from);
        if (!is_new && first->second != from && shared_epoch_) shared_epoch_(first->first);
    }
    const auto message = view.own_state();
    for (std::size_t to = 0; to < nodes_.size(); ++to)
        if (to != from) send(from, to, message);
}

void simulated_cluster::gossip(std::size_t from) {
    loop_.schedule_after(random_.between(100ms, plan_.gossip_pause_high), [this, from] {
        if (is_up(from)) broadcast(from);
        gossip(from);
    });
}

void simulated_cluster::receive(std::size_t to, std::size_t from,
                                const cluster_view::message& message) {
    auto& receiver = *nodes_[to];
    receiver.heard[from] = loop_.now();
    const auto change = receiver.view.receive(message);
    if (change.update) send(to, from, receiver.view.update_about(*change.update));
    if (!change.lost_slots.empty()) lose_slots(to, change.lost_slots);
    if (change.has_new_master) demote(to);
}

// The messages of PUBLISH go to every node; nobody counts their receivers there.
void simulated_cluster::publish(std::size_t from, std::string_view channel,
                                std::string_view payload) {
    for (std::size_t to = 0; to < nodes_.size(); ++to) {
        if (to == from || !reaches(from, to)) continue;
        loop_.schedule_at(arrival(from, to), [this, from, to, channel = std::string(channel),
                                              payload = std::string(payload)] {
            if (!reaches(from, to)) return;
            network(to).change_data(
                [&](simulated_redis& redis) { redis.deliver(channel, payload); });
        });
    }
}

// A master that has lost a slot deletes the keys that it still has there.
void simulated_cluster::lose_slots(std::size_t node, const std::vector<std::size_t>& slots) {
    const bool is_master = nodes_[node]->view.is_master();
    network(node).change_data([&](simulated_redis& redis) {
        for (const auto slot : slots) {
            redis.leave_slot(slot);
            if (!is_master) continue;
            for (auto key = first_key_of(node, slot); !key.empty(); key = first_key_of(node, slot))
                redis.evict(0, key);
        }
    });
}

// A master that has become a replica gets the new master's data.
void simulated_cluster::demote(std::size_t demoted) {
    auto& of = *nodes_[demoted];
    ++of.replication;
    of.is_synced = false;
    network(demoted).thaw();
    network(demoted).change_data([](simulated_redis& redis) { redis.flush_all(); });
}

void simulated_cluster::replicate(std::size_t replica) {
    loop_.schedule_after(random_.between(10ms, 300ms), [this, replica] {
        auto& to = *nodes_[replica];
        const auto master = to.view.master();
        if (master != no_node && are_connected(master, replica) &&
            nodes_[master]->view.is_master()) {
            auto data = std::make_shared<simulated_redis::snapshot>(
                network(master).server().take_snapshot());
            const auto when =
                std::max(to.last_replica_data + 1ns,
                         loop_.now() + random_.between(0ms, plan_.replication_lag_high));
            to.last_replica_data = when;
            loop_.schedule_at(when, [&to, data, master, writes = network(master).writes(),
                                     replication = to.replication] {
                if (to.replication != replication || to.view.is_master()) return;
                to.replicated = std::move(*data);
                to.replicated_from = master;
                to.replicated_writes = writes;
                to.is_synced = true;
            });
        }
        replicate(replica);
    });
}

void simulated_cluster::promote(std::size_t replica, std::size_t old_master) {
    auto& of = *nodes_[replica];
    ++of.replication;
    of.election_at = instant(-1);
    network(replica).server().data().replace(std::move(of.replicated[0]));
    broadcast(replica);
    if (promoted_) promoted_(replica, old_master);
}

bool simulated_cluster::take_over(std::size_t replica) {
    auto& of = *nodes_[replica];
    if (of.view.is_master() || !of.is_synced || !is_up(replica)) return false;
    const auto old_master = of.view.master();
    of.view.take_over();
    promote(replica, old_master);
    return true;
}

// The old master executes nothing until it knows, or until it gives up waiting.
void simulated_cluster::fail_over(std::size_t replica) {
    auto& of = *nodes_[replica];
    const auto master = of.view.master();
    if (master == no_node || !of.is_synced || !are_connected(master, replica)) return;
    network(master).freeze();
    loop_.schedule_after(random_.between(1ms, 20ms), [this, &of, master, replica] {
        if (of.view.master() != master || !are_connected(master, replica)) return;
        auto data = network(master).server().take_snapshot();
        if (!hold_election(replica, false)) return;
        of.replicated = std::move(data);
        promote(replica, master);
    });
    loop_.schedule_after(5s, [this, master] {
        if (nodes_[master]->view.is_master()) network(master).thaw();
    });
}

std::vector<std::size_t> simulated_cluster::masters_of(std::size_t in_view_of) const {
    const auto& view = nodes_[in_view_of]->view;
    std::vector<std::size_t> masters;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (view.is_master(i) && view.slots_of(i) > 0) masters.push_back(i);
    return masters;
}

// The masters vote, each of them once for each epoch.
bool simulated_cluster::hold_election(std::size_t replica, bool only_if_failed) {
    auto& view = nodes_[replica]->view;
    const auto old_master = view.master();
    const auto masters = masters_of(replica);
    auto epoch = view.current_epoch();
    std::vector<std::size_t> voters;
    for (const auto each : masters) {
        const auto& voter = nodes_[each]->view;
        if (!are_connected(replica, each) || !voter.is_master()) continue;
        if (only_if_failed && !voter.is_failing(old_master)) continue;
        voters.push_back(each);
        epoch = std::max(epoch, voter.current_epoch());
    }
    if (voters.size() <= masters.size() / 2) return false;
    for (const auto each : voters)
        nodes_[each]->view.see_epoch(epoch + 1);
    view.win_election(epoch + 1);
    return true;
}

void simulated_cluster::detect_failures() {
    loop_.schedule_after(failure_check_pause, [this] {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (is_up(i)) judge(i);
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            plan_election(i);
        detect_failures();
    });
}

bool simulated_cluster::is_silent(std::size_t listener, std::size_t node) const {
    return listener != node && loop_.now() - nodes_[listener]->heard[node] > plan_.node_timeout;
}

// A node has failed if most masters do not hear it. A node that does not hear most masters does
// not serve, and serves again only some time later.
void simulated_cluster::judge(std::size_t judging) {
    auto& of = *nodes_[judging];
    const auto masters = masters_of(judging);
    const auto is_majority = [&](auto count) {
        return static_cast<std::size_t>(count) > masters.size() / 2;
    };
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto is_reported = [&](std::size_t by) {
            return !is_silent(judging, by) && is_silent(by, i);
        };
        if (!is_silent(judging, i))
            of.view.set_failing(i, false);
        else if (is_majority(std::ranges::count_if(masters, is_reported)))
            of.view.set_failing(i, true);
    }
    const bool is_alone = !is_majority(std::ranges::count_if(
        masters, [&](std::size_t master) { return !is_silent(judging, master); }));
    const bool has_gap =
        plan_.full_coverage &&
        (of.view.slots_of(no_node) > 0 ||
         std::ranges::any_of(masters, [&](auto each) { return of.view.is_failing(each); }));
    if (is_alone) of.down_until = loop_.now() + std::clamp<instant>(plan_.node_timeout, 500ms, 5s);
    of.view.set_down(is_alone || has_gap || loop_.now() < of.down_until);
}

void simulated_cluster::plan_election(std::size_t replica) {
    auto& of = *nodes_[replica];
    const auto master = of.view.master();
    const bool is_candidate =
        master != no_node && is_up(replica) && of.is_synced && of.view.is_failing(master);
    if (!is_candidate) {
        of.election_at = instant(-1);
    } else if (of.election_at < 0ns) {
        of.election_at = loop_.now() + random_.between(500ms, 1500ms);
    } else if (loop_.now() >= of.election_at) {
        of.election_at = loop_.now() + random_.between(1s, 2s);
        if (hold_election(replica, true)) promote(replica, master);
    }
}

void simulated_cluster::kill(std::size_t node) { network(node).stop_server(); }

void simulated_cluster::restart(std::size_t node) {
    if (is_up(node) || nodes_[node]->is_removed) return;
    auto& of = *nodes_[node];
    network(node).start_server(network(node).server().take_snapshot());
    std::ranges::fill(of.heard, loop_.now());
    of.view.renew_replication_id();
    // A master serves again only when it may have heard of a failover.
    of.down_until = loop_.now() + 2s;
    of.view.set_down(true);
}

void simulated_cluster::stop_faults() {
    faults_stopped_ = true;
    heal_bus();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        network(i).stop_faults();
        restart(i);
    }
}

void simulated_cluster::close_moves() {
    for (const auto& each : nodes_)
        each->view.close_moves();
}

std::size_t simulated_cluster::redirected_from(std::size_t node, std::size_t slot) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto next = nodes_[node]->view.owner_of(slot);
        if (next == no_node) return no_node;
        if (next == node) return nodes_[node]->view.is_master() ? node : no_node;
        node = next;
    }
    return no_node;
}

bool simulated_cluster::is_agreed() const {
    const auto is_serving = [](const auto& each) {
        return each->is_removed || (each->network.is_up() && !each->view.is_down());
    };
    if (!std::ranges::all_of(nodes_, is_serving)) return false;
    std::vector<std::size_t> masters;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i]->view.is_master() && !nodes_[i]->is_removed) masters.push_back(i);
    if (masters.empty()) return false;
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
        const auto owner = redirected_from(masters.front(), slot);
        const bool is_owner_of_all =
            owner != no_node && std::ranges::all_of(masters, [&](std::size_t each) {
                return redirected_from(each, slot) == owner;
            });
        if (!is_owner_of_all) return false;
    }
    return true;
}

std::size_t simulated_cluster::target_of(std::size_t slot) const {
    const auto move = moves_.find(slot);
    return move == moves_.end() ? no_node : move->second.to;
}

std::string simulated_cluster::first_key_of(std::size_t node, std::size_t slot) {
    for (const auto& [key, entry] : network(node).server().data().all())
        if (slot_of(key) == slot) return key;
    return {};
}

void simulated_cluster::move_slot(std::size_t slot, std::size_t to) {
    if (moves_.contains(slot)) return;
    moves_[slot] = {slot, to};
    plan_step(slot, &simulated_cluster::begin_move);
}

void simulated_cluster::plan_step(std::size_t slot, void (simulated_cluster::*step)(slot_move&)) {
    const bool is_interrupted = !faults_stopped_ && random_.happens(plan_.interrupted_moves);
    const auto pause = is_interrupted ? random_.between(2s, 7s)
                                      : random_.between(200us, faults_stopped_ ? 5ms : 200ms);
    loop_.schedule_after(pause, [this, slot, step] {
        if (const auto move = moves_.find(slot); move != moves_.end()) (this->*step)(move->second);
    });
}

// As an operator repairs it: the target forgets the move, and a new one begins at the node that has
// the slot by now. While a node imports a slot, it does not learn of the slot's new master.
void simulated_cluster::repeat_move(slot_move& move) {
    if (is_up(move.to)) nodes_[move.to]->view.end_move(move.slot);
    if (!nodes_[move.to]->view.is_master() && is_up(move.to))
        move.to = nodes_[move.to]->view.master();
    plan_step(move.slot, &simulated_cluster::begin_move);
}

void simulated_cluster::begin_move(slot_move& move) {
    const auto from = owner_of(move.slot);
    if (from == no_node || !are_connected(from, move.to)) return repeat_move(move);
    auto &source = nodes_[from]->view, &target = nodes_[move.to]->view;
    if (from == move.to) {
        target.end_move(move.slot);
        moves_.erase(move.slot);
        return;
    }
    if (!source.is_master() || source.owner_of(move.slot) != from || !target.is_master() ||
        target.owner_of(move.slot) != from)
        return repeat_move(move);
    move.from = from;
    target.import_from(move.slot, from);
    plan_step(move.slot, &simulated_cluster::mark_at_source);
}

bool simulated_cluster::is_at_source(const slot_move& move) const {
    const auto& source = nodes_[move.from]->view;
    return is_up(move.from) && source.is_master() && source.owner_of(move.slot) == move.from;
}

// Before the first key moves: otherwise the source would take a key that has moved for a key that
// does not exist.
void simulated_cluster::mark_at_source(slot_move& move) {
    if (!is_at_source(move)) return repeat_move(move);
    nodes_[move.from]->view.migrate_to(move.slot, move.to);
    plan_step(move.slot, &simulated_cluster::move_key);
}

void simulated_cluster::move_key(slot_move& move) {
    if (!is_at_source(move) || owner_of(move.slot) != move.from ||
        !are_connected(move.from, move.to) || !nodes_[move.to]->view.is_master())
        return repeat_move(move);
    const auto key = first_key_of(move.from, move.slot);
    if (key.empty()) return plan_step(move.slot, &simulated_cluster::finish_move_at_target);
    if (!accepts_key(move, key)) return repeat_move(move);
    migrate(move.from, move.to, key);
    plan_step(move.slot, &simulated_cluster::move_key);
}

// A node that is down refuses MIGRATE, and RESTORE-ASKING as well: so does a master that was
// replaced, and has just started again.
bool simulated_cluster::accepts_key(const slot_move& move, std::string_view key) {
    const std::array names{key};
    auto& data = network(move.to).server().data();
    return !nodes_[move.from]->view.is_down() &&
           nodes_[move.to]->view.refusal({.names = names, .is_asking = true}, data).empty();
}

// The time to live moves, not the time of expiry: the nodes' clocks may differ.
void simulated_cluster::migrate(std::size_t from, std::size_t to, const std::string& key) {
    auto& source = network(from).server();
    const auto* const entry = source.data().peek(key);
    if (entry == nullptr) return;
    auto moved = *entry;
    if (moved.expires_ms)
        *moved.expires_ms += (network(to).wall_us() - network(from).wall_us()) / 1000;
    network(to).change_data([&](simulated_redis& redis) { redis.restore(key, std::move(moved)); });
    // The target's answer is lost: the source keeps the key, and the operator moves it again.
    if (!faults_stopped_ && random_.happens(plan_.lost_move_replies)) return;
    network(from).change_data([&](simulated_redis& redis) { redis.evict(0, key); });
}

void simulated_cluster::finish_move_at_target(slot_move& move) {
    auto& target = nodes_[move.to]->view;
    const auto from = owner_of(move.slot);
    if (!is_up(move.to) || !target.is_master()) return repeat_move(move);
    // The source's replica has replaced it, and has keys that had already moved.
    if (from != no_node && from != move.to && !first_key_of(from, move.slot).empty())
        return repeat_move(move);
    target.set_owner(move.slot, move.to, true);
    target.end_move(move.slot);
    broadcast(move.to);
    if (moved_) moved_(move.slot, move.from, move.to);
    plan_step(move.slot, &simulated_cluster::finish_move_at_source);
}

// The others learn it from the bus, and so may the source.
void simulated_cluster::finish_move_at_source(slot_move& move) {
    const auto from = move.from;
    auto& view = nodes_[from]->view;
    // A node refuses to give a slot to a replica.
    if (is_at_source(move) && view.is_master(move.to) && random_.happens(0.5)) {
        view.set_owner(move.slot, move.to, !first_key_of(from, move.slot).empty());
        if (view.owner_of(move.slot) != from) lose_slots(from, {move.slot});
        if (!view.is_master()) demote(from);
    }
    moves_.erase(move.slot);
}

}  // namespace pawl::simulation
