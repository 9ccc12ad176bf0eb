// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_group.hpp"

#include "eventually.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

using namespace std::chrono_literals;

namespace support {
namespace {

// The share of a master: "first last".
std::pair<std::string, std::string> share_of(std::size_t master, std::size_t masters) {
    return {std::to_string(master * slot_count / masters),
            std::to_string((master + 1) * slot_count / masters - 1)};
}

cluster_view parse_view(const std::string& line) {
    cluster_view view;
    std::string address, ignored;
    std::istringstream fields(line);
    fields >> view.id >> address >> view.flags >> view.master >> ignored >> ignored >> view.epoch >>
        ignored;
    // host:port@cluster-port
    const auto colon = address.find_last_of(':', address.find('@'));
    view.port = static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1)));
    for (std::string slots; fields >> slots;)
        view.slots.push_back(slots);
    return view;
}

// Open slots, which move at present, have brackets.
bool contains(const std::string& range, std::size_t slot) {
    if (range.starts_with('[')) return false;
    const auto dash = range.find('-');
    const auto first = std::stoul(range);
    const auto last = dash == std::string::npos ? first : std::stoul(range.substr(dash + 1));
    return first <= slot && slot <= last;
}

void expect_ok(redis_server& node, const command_words& words) {
    const auto reply = node.execute(words);
    if (reply.is_error()) throw std::runtime_error(words.at(1) + ": " + reply.text);
}

}  // namespace

bool cluster_view::has_flag(std::string_view flag) const {
    return ("," + flags + ",").find("," + std::string(flag) + ",") != std::string::npos;
}

bool cluster_view::has_slot(std::size_t slot) const {
    return std::ranges::any_of(slots,
                               [slot](const std::string& range) { return contains(range, slot); });
}

std::vector<cluster_view> read_cluster_views(const std::string& reply) {
    std::istringstream lines(reply);
    std::vector<cluster_view> result;
    for (std::string line; std::getline(lines, line);)
        if (!line.empty()) result.push_back(parse_view(line));
    return result;
}

cluster_group::cluster_group(const cluster_group_options& options) : options_(options) {
    auto config = options.server_config;
    config.push_back("cluster-node-timeout " + std::to_string(options.node_timeout.count()));
    config.push_back(std::string("cluster-require-full-coverage ") +
                     (options.full_coverage ? "yes" : "no"));
    config.emplace_back("repl-diskless-sync-delay 0");
    // Otherwise a replica leaves a master that has lost its slots for another one.
    config.emplace_back("cluster-allow-replica-migration no");
    if (!options.password.empty()) {
        config.push_back("requirepass " + options.password);
        config.push_back("masterauth " + options.password);
    }
    const auto count = options.masters * (1 + options.replicas);
    for (std::size_t i = 0; i < count; ++i)
        nodes_.push_back(std::make_unique<redis_server>(redis_options{
            .config = config,
            .tls = options.tls,
            .certificates = i > 0 ? nodes_[0]->folder().path().string() : std::string(),
            .cluster = true,
            .password = options.password,
            .runs_on = options.machines.empty() ? machine() : options.machines.at(i)}));
    for (const auto& each : nodes_)
        ids_.push_back(each->execute({"CLUSTER", "MYID"}).text);
    form(options.masters);
}

// A node serves its slots 2 s after its start at the earliest.
void cluster_group::form(std::size_t masters) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        expect_ok(*nodes_[i], {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
        if (i >= masters) continue;
        const auto [first, last] = share_of(i, masters);
        expect_ok(*nodes_[i], {"CLUSTER", "ADDSLOTSRANGE", first, last});
    }
    // A node forgets a meeting whose handshake has not ended within its timeout: on a busy machine.
    bool have_met = false;
    for (int attempt = 0; attempt < 6 && !have_met; ++attempt) {
        meet();
        have_met = eventually([this] { return is_met(); });
    }
    if (!have_met) throw std::runtime_error("the nodes of the cluster do not meet");
    for (std::size_t i = masters; i < nodes_.size(); ++i)
        expect_ok(*nodes_[i], {"CLUSTER", "REPLICATE", ids_[i % masters]});
    if (!is_agreed()) throw std::runtime_error("the cluster does not start");
    for (std::size_t i = 0; i < masters; ++i)
        if (!is_replicated(i)) throw std::runtime_error("a replica of the cluster does not start");
}

// Each with each: gossip would be slower.
void cluster_group::meet() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            expect_ok(*nodes_[i],
                      {"CLUSTER", "MEET", nodes_[j]->host(), std::to_string(nodes_[j]->port()),
                       std::to_string(nodes_[j]->cluster_port())});
}

bool cluster_group::is_met() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto known = views(i);
        if (known.size() != nodes_.size() ||
            !std::ranges::all_of(known, [&](const cluster_view& each) {
                return std::ranges::find(ids_, each.id) != ids_.end() && each.has_flag("master") &&
                       !each.has_flag("handshake");
            }))
            return false;
    }
    return true;
}

std::string cluster_group::url(const std::string& more) const {
    std::string hosts;
    for (std::size_t i = 0; i < options_.masters; ++i)
        hosts.append(hosts.empty() ? "" : ",")
            .append(nodes_[i]->host() + ":" + std::to_string(nodes_[i]->port()));
    return std::string(options_.tls ? "rediss" : "redis") + "+cluster://" + hosts + more;
}

bool cluster_group::is_answering(std::size_t node) {
    return nodes_.at(node)->is_running() && !nodes_[node]->is_frozen();
}

std::size_t cluster_group::first_answering() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (is_answering(i)) return i;
    throw std::runtime_error("no node of the cluster runs");
}

std::size_t cluster_group::index_of(const std::string& id) const {
    const auto position = std::ranges::find(ids_, id);
    if (position == ids_.end()) throw std::runtime_error("the cluster has a foreign node");
    return static_cast<std::size_t>(position - ids_.begin());
}

std::vector<cluster_view> cluster_group::views(std::size_t asked) {
    return read_cluster_views(nodes_.at(asked)->execute({"CLUSTER", "NODES"}).text);
}

std::size_t cluster_group::slot_of(const std::string& key) {
    return static_cast<std::size_t>(
        nodes_[first_answering()]->execute({"CLUSTER", "KEYSLOT", key}).number());
}

std::size_t cluster_group::owner_of(std::size_t slot) { return owner_of(slot, first_answering()); }

std::size_t cluster_group::owner_of(std::size_t slot, std::size_t asked) {
    for (const auto& each : views(asked))
        if (each.has_slot(slot)) return index_of(each.id);
    throw std::runtime_error("no node has slot " + std::to_string(slot));
}

std::size_t cluster_group::node_of(const std::string& key) { return owner_of(slot_of(key)); }

std::string cluster_group::name_on(std::size_t node, const std::string& prefix) {
    for (int i = 0;; ++i)
        if (const auto name = prefix + std::to_string(i); node_of("pawl:{" + name + "}") == node)
            return name;
}

std::size_t cluster_group::replica_of(std::size_t node) {
    for (const auto& each : views(first_answering()))
        if (each.master == ids_.at(node)) return index_of(each.id);
    throw std::runtime_error("the node has no replica");
}

std::uint64_t cluster_group::epoch(std::size_t node) {
    for (const auto& each : views(node))
        if (each.has_flag("myself")) return each.epoch;
    throw std::runtime_error("the node does not name itself");
}

bool cluster_group::is_serving(std::size_t node) {
    return nodes_[node]->execute({"CLUSTER", "INFO"}).text.find("cluster_state:ok") !=
           std::string::npos;
}

bool cluster_group::agrees() {
    // The owners of slots with their slots and epochs, and who replicates whom, as `node` sees it.
    const auto opinion = [this](std::size_t node) {
        std::vector<std::string> lines;
        for (const auto& each : views(node)) {
            auto line = each.id + " " + each.master + " " + std::to_string(each.epoch);
            for (const auto& range : each.slots)
                if (!range.starts_with('[')) line += " " + range;
            if (!is_answering(index_of(each.id)) && each.slots.empty()) continue;
            lines.push_back(std::move(line));
        }
        std::ranges::sort(lines);
        return lines;
    };
    const auto expected = opinion(first_answering());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (is_answering(i) && (!is_serving(i) || opinion(i) != expected)) return false;
    return true;
}

bool cluster_group::is_agreed() {
    return eventually([this] { return agrees(); }, 20s);
}

bool cluster_group::is_replicated(std::size_t node) {
    return eventually([&] {
        for (const auto& each : views(node)) {
            const auto index = index_of(each.id);
            if (each.master != ids_.at(node) || !is_answering(index)) continue;
            const auto info = nodes_[index]->execute({"INFO", "replication"}).text;
            if (info.find("master_link_status:up") == std::string::npos ||
                nodes_[index]->keys() != nodes_.at(node)->keys())
                return false;
        }
        return true;
    });
}

bool cluster_group::is_promoted(std::size_t node) {
    return eventually(
        [&] {
            for (std::size_t i = 0; i < nodes_.size(); ++i) {
                if (!is_answering(i)) continue;
                for (const auto& each : views(i))
                    if (each.id == ids_.at(node) &&
                        (!each.has_flag("master") || each.slots.empty()))
                        return false;
            }
            return true;
        },
        20s);
}

// A replica refuses while its connection to its master is down.
void cluster_group::begin_failover(std::size_t replica) {
    const auto begins = [&] {
        return nodes_.at(replica)->execute({"CLUSTER", "FAILOVER"}).text == "OK";
    };
    if (!eventually(begins)) throw std::runtime_error("the replica does not begin a failover");
}

void cluster_group::take_over(std::size_t replica) {
    expect_ok(*nodes_.at(replica), {"CLUSTER", "FAILOVER", "TAKEOVER"});
}

slot_move::slot_move(cluster_group& group, std::size_t slot, std::size_t to)
    : group_(group), slot_(slot), from_(group.owner_of(slot)), to_(to) {}

void slot_move::begin() {
    const auto slot = std::to_string(slot_);
    expect_ok(group_.node(to_), {"CLUSTER", "SETSLOT", slot, "IMPORTING", group_.id(from_)});
    expect_ok(group_.node(from_), {"CLUSTER", "SETSLOT", slot, "MIGRATING", group_.id(to_)});
}

bool slot_move::move_key() {
    const auto keys =
        group_.node(from_).execute({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot_), "1"});
    if (keys.items.empty()) return false;
    move_key(keys.items[0].text);
    return true;
}

void slot_move::move_key(const std::string& key) {
    command_words words{
        "MIGRATE", group_.node(to_).host(), std::to_string(group_.node(to_).port()), key, "0",
        "5000"};
    if (const auto& password = group_.password(); !password.empty())
        words.insert(words.end(), {"AUTH", password});
    expect_ok(group_.node(from_), words);
}

void slot_move::move_all_keys() {
    while (move_key()) {}
}

void slot_move::finish() {
    for (const auto each : {to_, from_})
        expect_ok(group_.node(each),
                  {"CLUSTER", "SETSLOT", std::to_string(slot_), "NODE", group_.id(to_)});
}

void slot_move::cancel() {
    for (const auto each : {to_, from_})
        expect_ok(group_.node(each), {"CLUSTER", "SETSLOT", std::to_string(slot_), "STABLE"});
}

void slot_move::run() {
    begin();
    move_all_keys();
    finish();
}

}  // namespace support
