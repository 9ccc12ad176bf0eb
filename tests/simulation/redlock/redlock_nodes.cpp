// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_nodes.hpp"

#include <redis/common/keys.hpp>
#include <redlock_scripts.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

namespace scripts = redlock::scripts;

constexpr std::string_view readers_mark = "pawl:readers";

redis::keys keys_of(const std::string& name) {
    static const redis::key_scheme scheme(redis::options().name_space, "");
    return scheme.keys_of(name);
}

bool is_call_of(const words& command, const redis::script& script) {
    return command.size() > 2 && (command[1] == script.sha1 || command[1] == script.text);
}

// The owner of a lock's value, with what follows it up to the counter.
std::string_view without_counter(std::string_view value) {
    return value.substr(0, value.rfind(';'));
}

redlock::options options_of(const redlock_plan& plan) {
    redlock::options result;
    result.ttl_max = plan.ttl_max;
    for (std::size_t i = 0; i < plan.node_count; ++i) {
        auto& node = result.nodes.emplace_back();
        node.host = "node" + std::to_string(i + 1);
        node.reply_timeout = 1s;
        node.connect_timeout = 1s;
    }
    return result;
}

}  // namespace

const std::vector<std::string>& redlock_nodes::names() {
    static const std::vector<std::string> all{"a", "b"};
    return all;
}

redlock_nodes::redlock_nodes(scheduler& loop, const redlock_plan& scenario_plan, prng random,
                             trace& log, redlock_checker& holds)
    : loop_(loop),
      plan_(scenario_plan),
      random_(random),
      trace_(log),
      holds_(holds),
      options_(options_of(scenario_plan)),
      member_key_(options_.nodes.front().name_space + ":redlock"),
      quarantine_key_(member_key_ + ":q"),
      nodes_(scenario_plan.node_count) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        nodes_[i].network = std::make_unique<simulated_network>(
            loop_, random_.fork(), plan_.network, "node" + std::to_string(i + 1));
        auto& made = *nodes_[i].network;
        made.set_observer(this);
        made.run_clock_at(plan_.clock_rates[i]);
        made.jump_clock(random_.between(-1'000'000, 1'000'000));
        if (plan_.bug != redlock_bug::none)
            made.server().edit_scripts([bug = plan_.bug](const std::string& text) {
                return inject_redlock_bug(bug, text);
            });
    }
}

node_networks redlock_nodes::networks() {
    node_networks result;
    for (auto& each : nodes_)
        result.push_back(each.network.get());
    return result;
}

redlock_nodes::node& redlock_nodes::node_of(const simulated_network& server) {
    return *std::ranges::find(nodes_, &server, [](const node& each) { return each.network.get(); });
}

std::optional<std::string> redlock_nodes::value_at(std::size_t index, const std::string& name) {
    auto value = network(index).server().data().text_of(keys_of(name).lock());
    if (value.empty()) return std::nullopt;
    return value;
}

std::size_t redlock_nodes::count_nodes_with(const std::string& name, const std::string& label) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        const auto all = holds_at(nodes_[i], name);
        if (std::ranges::any_of(all, [&](const watched_hold& each) {
                return each.value.find(";" + label + ";") != std::string::npos;
            }))
            ++count;
    }
    return count;
}

bool redlock_nodes::remembers(node& asked) {
    auto& server = asked.network->server();
    const auto* const member = server.data().peek<store::hash>(member_key_);
    if (member == nullptr || !member->contains("highest")) return false;
    const auto run = member->find("run");
    return run != member->end() && run->second == server.run_id();
}

bool redlock_nodes::is_member(std::size_t index) {
    return network(index).is_up() && remembers(nodes_[index]);
}

std::size_t redlock_nodes::count_members() {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i)
        if (is_member(i)) ++count;
    return count;
}

bool redlock_nodes::is_up_and_quick() const {
    return std::ranges::all_of(nodes_, [](const node& each) {
        return each.network->is_up() && !each.network->is_frozen();
    });
}

std::string redlock_nodes::leftovers() {
    for (std::size_t i = 0; i < size(); ++i)
        for (const auto& [key, entry] : network(i).server().data().all()) {
            const bool is_counter = key.ends_with(
                keys_of(names().front()).fence().substr(keys_of(names().front()).lock().size()));
            if (key != member_key_ && key != quarantine_key_ && !is_counter)
                return "node " + std::to_string(i + 1) + " keeps " + key;
        }
    return {};
}

void redlock_nodes::on_executed(simulated_network& server, simulated_process&, const words& command,
                                const redis::reply& reply) {
    if (!command.front().starts_with("EVAL")) return;
    if (reply.type == redis::reply::kind::error && !reply.text.starts_with("NOSCRIPT"))
        holds_.fail("a script failed: " + reply.text);
    compare(node_of(server), &command);
}

void redlock_nodes::on_data_changed(simulated_network& server) {
    compare(node_of(server), nullptr);
}

void redlock_nodes::compare(node& changed, const words* command) {
    for (const auto& name : names())
        compare_lock(changed, name, command);
    const bool is_quarantined = changed.network->server().data().find(quarantine_key_) != nullptr;
    if (is_quarantined && !std::exchange(changed.was_quarantined, true))
        changed.must_not_vote_until = loop_.now() + instant(plan_.ttl_max);
    changed.was_quarantined = is_quarantined;
}

std::vector<redlock_nodes::watched_hold> redlock_nodes::holds_at(node& asked,
                                                                 const std::string& name) {
    auto& data = asked.network->server().data();
    const auto key = keys_of(name);
    const auto* const stored = data.find(key.lock());
    const auto* const value =
        stored == nullptr ? nullptr : std::get_if<std::string>(&stored->content);
    if (value == nullptr) return {};
    if (!stored->expires_ms) {
        holds_.fail("the lock " + name + " never expires at a node");
        return {};
    }
    if (!value->starts_with(readers_mark)) return {{*value, *stored->expires_ms, {}}};
    std::vector<watched_hold> result;
    const auto* const details = data.peek<store::hash>(std::string(key.details()));
    const auto* const ends = data.peek<sorted_set>(std::string(key.holders()));
    if (details == nullptr || ends == nullptr) return {};
    for (const auto& [owner, detail] : *details) {
        const auto end = ends->score_of(owner);
        if (!end) continue;
        result.push_back({detail, static_cast<std::int64_t>(*end), {}});
        if (result.back().expires_ms > *stored->expires_ms)
            holds_.fail("the lock " + name + " expires at a node before its last reader");
    }
    return result;
}

void redlock_nodes::compare_lock(node& changed, const std::string& name, const words* command) {
    const auto present = holds_at(changed, name);
    auto& known = changed.holds[name];
    for (auto each = known.begin(); each != known.end();) {
        const bool is_present = std::ranges::any_of(present, [&](const watched_hold& other) {
            return without_counter(other.value) == each->first;
        });
        if (!is_present) judge_end(changed, name, each->second, command);
        each = is_present ? std::next(each) : known.erase(each);
    }
    for (const auto& each : present)
        watch(changed, name, each.value, each.expires_ms, command);
}

void redlock_nodes::watch(node& changed, const std::string& name, const std::string& value,
                          std::int64_t expires_ms, const words* command) {
    auto& known = changed.holds[name];
    const auto position = known.find(without_counter(value));
    const bool is_new = position == known.end();
    if (is_new && command != nullptr && loop_.now() < changed.must_not_vote_until) {
        trace_.write("a node votes early");
        holds_.note_weak_node("");
    }
    if (!is_new && position->second.expires_ms == expires_ms) return;
    const auto left =
        std::chrono::milliseconds(expires_ms - changed.network->server().data().now_ms());
    known[std::string(without_counter(value))] = {value, expires_ms, loop_.now() + left};
}

void redlock_nodes::judge_end(node& changed, const std::string& name, const watched_hold& ended,
                              const words* command) {
    const bool has_expired = changed.network->server().data().now_ms() >= ended.expires_ms;
    // The drift of a client's deadline covers as much.
    const auto tolerance = instant(plan_.longest_ttl) / 100;
    if (has_expired) {
        if (loop_.now() + tolerance < ended.lasts_until) holds_.note_weak_node(name);
        return;
    }
    if (command == nullptr) {
        if (remembers(changed)) holds_.note_weak_node(name);
        return;
    }
    const auto owner = without_counter(ended.value);
    const bool names_owner =
        std::ranges::any_of(*command, [&](const std::string& word) { return word == owner; });
    static constexpr std::array ending{&scripts::release, &scripts::renew, &scripts::read_release,
                                       &scripts::read_renew};
    if (names_owner && std::ranges::any_of(ending, [&](const redis::script* each) {
            return is_call_of(*command, *each);
        }))
        return;
    if (is_call_of(*command, scripts::barrier)) return;
    holds_.fail("a node has lost the lock " + name + " by a request of somebody else");
}

void redlock_nodes::note_backup() {
    auto& affected = nodes_[random_.below(size())];
    affected.backup = affected.network->server().take_snapshot();
}

// The others can let it join again, unless the scenario may lose a majority.
void redlock_nodes::forget_some() {
    const bool many = plan_.loses_majority && random_.happens(0.5);
    const bool all = many && random_.happens(0.5);
    for (std::size_t i = 0; i < size(); ++i) {
        if (!all && !random_.happens(many ? 0.6 : 1.0 / static_cast<double>(size()))) continue;
        const auto others = count_members() - (is_member(i) ? 1 : 0);
        if (network(i).is_up() && (many || others >= plan_.majority())) forget(i);
    }
    if (count_members() == 0 && plan_.moves_clocks) holds_.note_wrong_seed();
}

void redlock_nodes::forget(std::size_t index) {
    auto& server = network(index);
    const auto kind = random_.below(5);
    trace::line(trace_) << "node " << static_cast<std::int64_t>(index + 1) << " forgets, fault "
                        << static_cast<std::int64_t>(kind);
    const auto down = random_.happens(0.5) ? random_time(1ms, 50ms) : random_time(50ms, 4s);
    switch (kind) {
    case 0: return server.change_data([](simulated_redis& redis) { redis.flush_all(); });
    case 1:
        return server.change_data([this](simulated_redis& redis) { redis.evict(0, member_key_); });
    case 2: return restart(index, {}, down);
    case 3: return restart(index, nodes_[index].backup, down);
    default: return restart(index, server.server().take_snapshot(), down);
    }
}

void redlock_nodes::restart(std::size_t index, simulated_redis::snapshot with, instant after) {
    auto& server = network(index);
    server.stop_server();
    loop_.schedule_after(after, [&server, with = std::move(with)]() mutable {
        if (!server.is_up()) server.start_server(std::move(with));
    });
}

void redlock_nodes::forget_in_turn() {
    std::size_t joined = 0;
    for (; joined < plan_.majority(); ++joined) {
        if (count_members() < size()) break;
        forget(joined);
        const auto until = loop_.now() + 5s;
        while (loop_.now() < until && !is_member(joined))
            loop_.run_for(5ms);
    }
    if (joined < plan_.majority()) return;
    trace_.write("the nodes that have not forgotten are frozen");
    for (auto i = joined; i < size(); ++i) {
        network(i).freeze();
        loop_.schedule_after(plan_.quarantine() + random_time(500ms, 3s),
                             [this, i] { network(i).thaw(); });
    }
}

void redlock_nodes::freeze_some() {
    for (std::size_t i = 0; i < size(); ++i) {
        if (!random_.happens(0.4)) continue;
        trace::line(trace_) << "node " << static_cast<std::int64_t>(i + 1) << " is frozen";
        network(i).freeze();
        loop_.schedule_after(random_time(20ms, 3s), [this, i] { network(i).thaw(); });
    }
}

void redlock_nodes::evict_a_key() {
    auto& affected = nodes_[random_.below(size())];
    const auto keys = keys_of(names()[random_.below(names().size())]);
    const std::array<std::string, 6> all{std::string(keys.lock()),    std::string(keys.fence()),
                                         std::string(keys.queue()),   std::string(keys.holders()),
                                         std::string(keys.details()), quarantine_key_};
    const auto& key = all[random_.below(all.size())];
    trace_.write("a node evicts " + key);
    affected.network->change_data([&](simulated_redis& redis) { redis.evict(0, key); });
}

// Usually of a minority only.
void redlock_nodes::jump_a_clock() {
    const auto count = random_.happens(0.8) ? size() - plan_.majority() : size();
    const auto index = random_.below(count);
    const auto by = random_.between(-5'000'000, 5'000'000);
    trace::line(trace_) << "the clock of node " << static_cast<std::int64_t>(index + 1)
                        << " jumps by " << by << " µs";
    compare(nodes_[index], nullptr);  // what has expired until now
    if (by < 0) backward_ += std::chrono::microseconds(-by);
    network(index).jump_clock(by);
}

void redlock_nodes::cut_off(simulated_process& process) {
    for (auto& each : nodes_)
        switch (random_.below(5)) {
        case 0:
        case 1: break;
        case 2: each.network->cut_off_requests(process); break;
        case 3: each.network->cut_off_replies(process); break;
        default: each.network->cut_off(process);
        }
}

void redlock_nodes::reconnect(simulated_process& process) {
    for (auto& each : nodes_)
        each.network->reconnect(process);
}

void redlock_nodes::stop_faults() {
    for (auto& each : nodes_) {
        each.network->stop_faults();
        each.network->thaw();
        if (!each.network->is_up()) each.network->start_server({});
    }
}

}  // namespace pawl::simulation
