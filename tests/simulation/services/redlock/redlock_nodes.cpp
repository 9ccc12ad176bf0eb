// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_nodes.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

redlock::options options_of(const redlock_plan& plan) {
    redlock::options result;
    result.ttl_max = plan.ttl_max;
    result.reply_timeout = 1s;
    result.connect_timeout = 1s;
    for (std::size_t i = 0; i < plan.node_count; ++i)
        result.nodes.emplace_back(redis::server{.host = "node" + std::to_string(i + 1)});
    return result;
}

// "INCARNATION" or "INCARNATION:NONCE", as a node keeps them of every node.
std::string mark_of(std::string_view vector, std::size_t index) {
    std::istringstream marks{std::string(vector)};
    std::string mark;
    for (std::size_t i = 0; i <= index; ++i)
        if (!(marks >> mark)) return {};
    return mark;
}

// The server's membership is of a memory after which its node has joined again.
bool has_successor(redlock_server& server, std::string_view mark) {
    if (mark.empty() || server.membership("incarnation").empty()) return false;
    const auto later = std::stoll(std::string(mark));
    const auto own = std::stoll(server.membership("incarnation"));
    const auto colon = mark.find(':');
    if (colon == mark.npos) return later > own;
    return later >= own && mark.substr(colon + 1) != server.membership("nonce");
}

}  // namespace

redlock_nodes::redlock_nodes(const redlock_part& part)
    : redlock_part(part), options_(options_of(plan_)) {
    for (std::size_t i = 0; i < plan_.node_count; ++i)
        nodes_.push_back(std::make_unique<redlock_node>(fork(), i));
}

node_choices redlock_nodes::choices() const {
    node_choices result;
    for (const auto& each : nodes_)
        result.push_back([node = each.get()](const simulated_process& process) {
            return node->server_of(process);
        });
    return result;
}

node_choices redlock_nodes::choices_without_epochs() const {
    node_choices result;
    for (const auto& each : nodes_)
        result.push_back([node = each.get()](const simulated_process& process) {
            auto server = node->server_of(process);
            server.epoch = 0;
            return server;
        });
    return result;
}

bool redlock_nodes::is_locked_anywhere(const std::string& name) const {
    return std::ranges::any_of(
        nodes_, [&](const auto& each) { return each->newest().value_of(name).has_value(); });
}

std::size_t redlock_nodes::count_nodes_with(const std::string& name,
                                            const std::string& label) const {
    const auto has_it = [&](const auto& server) { return server->has_lock_of(name, label); };
    return static_cast<std::size_t>(std::ranges::count_if(
        nodes_, [&](const auto& each) { return std::ranges::any_of(each->servers(), has_it); }));
}

bool redlock_nodes::is_member(std::size_t index) const {
    auto& asked = nodes_[index]->newest();
    if (!asked.is_member()) return false;
    return std::ranges::none_of(nodes_, [&](const auto& other) {
        return other != nodes_[index] && other->newest().is_member() &&
               has_successor(asked, mark_of(other->newest().membership("vector"), index));
    });
}

std::size_t redlock_nodes::count_members() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i)
        if (is_member(i)) ++count;
    return count;
}

std::string redlock_nodes::leftovers() const {
    for (const auto& each : nodes_) {
        auto leftover = each->newest().leftover();
        if (!leftover.empty()) return leftover;
    }
    return {};
}

void redlock_nodes::note_backup() { nodes_[random_.below(size())]->newest().note_backup(); }

// The others can let it join again.
bool redlock_nodes::may_lose(std::size_t index) const {
    return network(index).is_up() &&
           count_members() - (is_member(index) ? 1 : 0) >= plan_.majority();
}

// Unless the scenario may lose a majority, a majority stays.
void redlock_nodes::forget_some() {
    const bool many = plan_.loses_majority && random_.happens(0.5);
    const bool all = many && random_.happens(0.5);
    for (std::size_t i = 0; i < size(); ++i) {
        if (!all && !random_.happens(many ? 0.6 : 1.0 / static_cast<double>(size()))) continue;
        if (!(many ? network(i).is_up() : may_lose(i))) continue;
        const auto down =
            random_.happens(0.5) ? random_.between(1ms, 50ms) : random_.between(50ms, 4s);
        nodes_[i]->newest().forget(down);
    }
    if (count_members() == 0 && plan_.moves_clocks) holds_.note_wrong_seed();
}

void redlock_nodes::forget_in_turn() {
    std::size_t joined = 0;
    for (; joined < plan_.majority(); ++joined) {
        if (count_members() < size()) break;
        nodes_[joined]->newest().forget(random_.between(1ms, 4s));
        const auto until = loop_.now() + 5s;
        while (loop_.now() < until && !is_member(joined))
            loop_.run_for(5ms);
    }
    if (joined < plan_.majority()) return;
    trace_.write("the nodes that have not forgotten are frozen");
    for (auto i = joined; i < size(); ++i) {
        network(i).freeze();
        loop_.schedule_after(plan_.quarantine() + random_.between(500ms, 3s),
                             [this, i] { network(i).thaw(); });
    }
}

void redlock_nodes::freeze_some() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (!random_.happens(0.4)) continue;
        trace::line(trace_) << "node " << static_cast<std::int64_t>(i + 1) << " is frozen";
        auto& frozen = nodes_[i]->any_running().network();
        frozen.freeze();
        loop_.schedule_after(random_.between(20ms, 3s), [&frozen] { frozen.thaw(); });
    }
}

void redlock_nodes::evict_a_key() { nodes_[random_.below(size())]->any_running().evict_a_key(); }

// Usually of a minority only.
void redlock_nodes::jump_a_clock() {
    const auto count = random_.happens(0.8) ? size() - plan_.majority() : size();
    const auto index = random_.below(count);
    const auto by = random_.between(-5'000'000, 5'000'000);
    trace::line(trace_) << "the clock of node " << static_cast<std::int64_t>(index + 1)
                        << " jumps by " << by << " µs";
    if (by < 0) backward_ += std::chrono::microseconds(-by);
    nodes_[index]->jump_clock(by);
}

void redlock_nodes::replace_a_server(std::span<simulated_process* const> programs) {
    const auto index = random_.below(size());
    if (nodes_[index]->may_be_replaced() && may_lose(index)) nodes_[index]->replace(programs);
}

void redlock_nodes::change_routes() {
    for (const auto& each : nodes_)
        each->change_routes();
}

void redlock_nodes::roll_back_later() {
    const auto index = random_.below(size());
    auto& affected = nodes_[index]->any_running();
    affected.note_backup();
    loop_.schedule_after(random_.between(50ms, 2s), [this, index, &affected] {
        if (affected.network().is_up() && may_lose(index)) affected.roll_back();
    });
}

template <class Change>
void redlock_nodes::change_networks(Change change) {
    for (const auto& node : nodes_)
        for (const auto& each : node->servers())
            change(each->network());
}

void redlock_nodes::cut_off(simulated_process& process) {
    change_networks([&](simulated_network& each) {
        switch (random_.below(5)) {
        case 0:
        case 1: break;
        case 2: each.cut_off_requests(process); break;
        case 3: each.cut_off_replies(process); break;
        default: each.cut_off(process);
        }
    });
}

void redlock_nodes::cut_off_from_minority(simulated_process& process) {
    for (std::size_t i = 0; i + plan_.majority() < size(); ++i) {
        // Without a connection, the program does not wait for answers.
        network(i).break_all(process);
        network(i).cut_off(process);
    }
}

void redlock_nodes::reconnect(simulated_process& process) {
    change_networks([&](simulated_network& each) { each.reconnect(process); });
}

void redlock_nodes::ban(simulated_process& process) {
    change_networks([&](simulated_network& each) { each.ban(process); });
}

void redlock_nodes::stop_faults() {
    for (const auto& each : nodes_)
        each->settle();
    for (std::size_t i = 0; i < size(); ++i) {
        network(i).stop_faults();
        network(i).thaw();
        if (!network(i).is_up()) network(i).start_server({});
    }
}

}  // namespace pawl::simulation
