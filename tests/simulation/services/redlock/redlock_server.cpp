// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_server.hpp"

#include <redis/common/keys.hpp>
#include <redlock_scripts.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

namespace scripts = redlock::scripts;

// What a client may err by when it reckons the time of a node.
constexpr auto longest_clock_error = 150ms;
constexpr std::string_view readers_mark = "pawl:readers";

redis::keys keys_of(const std::string& name) {
    static const redis::key_scheme scheme(redis::options().name_space, "");
    return scheme.keys_of(name);
}

const std::string& member_key() {
    static const std::string key = redis::options().name_space + ":redlock";
    return key;
}

const std::string& quarantine_key() {
    static const std::string key = member_key() + ":q";
    return key;
}

bool is_call_of(const words& command, const redis::script& script) {
    return command.size() > 2 && (command[1] == script.sha1 || command[1] == script.text);
}

// The owner of a lock's value, with what follows it up to the counter.
std::string_view without_counter(std::string_view value) {
    return value.substr(0, value.rfind(';'));
}

}  // namespace

redlock_server::redlock_server(const redlock_part& part, const network_faults& network,
                               const std::string& label, std::uint64_t epoch)
    : redlock_part(part),
      label_(label),
      epoch_(epoch),
      network_(loop_, random_.fork(), network, label) {
    network_.set_observer(this);
    if (plan_.bug != redlock_bug::none)
        network_.server().edit_scripts(
            [bug = plan_.bug](const std::string& text) { return inject_redlock_bug(bug, text); });
}

const std::vector<std::string>& redlock_server::names() {
    static const std::vector<std::string> all{"a", "b"};
    return all;
}

std::optional<std::string> redlock_server::value_of(const std::string& name) {
    auto value = network_.server().data().text_of(keys_of(name).lock());
    if (value.empty()) return std::nullopt;
    return value;
}

bool redlock_server::has_lock_of(const std::string& name, const std::string& label) {
    return std::ranges::any_of(holds_of(name), [&](const watched_hold& each) {
        return each.value.find(";" + label + ";") != std::string::npos;
    });
}

// As `run_of` in src/redis/redlock/node_request.hpp.
std::string redlock_server::run() {
    const auto id = network_.server().run_id();
    return epoch_ == 0 ? id : id + "." + std::to_string(epoch_);
}

std::string redlock_server::membership(std::string_view field) {
    const auto* const member = network_.server().data().peek<store::hash>(member_key());
    if (member == nullptr) return {};
    const auto position = member->find(field);
    return position == member->end() ? std::string() : position->second;
}

bool redlock_server::remembers() {
    return !membership("highest").empty() && membership("run") == run();
}

bool redlock_server::is_member() { return network_.is_up() && remembers(); }

std::string redlock_server::leftover() {
    const auto lock = keys_of(names().front());
    const auto counter_suffix = lock.fence().substr(lock.lock().size());
    for (const auto& [key, entry] : network_.server().data().all())
        if (key != member_key() && key != quarantine_key() && !key.ends_with(counter_suffix))
            return label_ + " keeps " + key;
    return {};
}

void redlock_server::on_executed(simulated_network&, simulated_process&, const words& command,
                                 const redis::reply& reply) {
    if (!command.front().starts_with("EVAL")) return;
    if (reply.type == redis::reply::kind::error && !reply.text.starts_with("NOSCRIPT"))
        holds_.fail("a script failed: " + reply.text);
    compare(&command);
    sent_at_.erase(&command);
}

void redlock_server::on_data_changed(simulated_network&) { compare(nullptr); }

void redlock_server::compare(const words* command) {
    for (const auto& name : names())
        compare_lock(name, command);
    const bool is_quarantined = network_.server().data().find(quarantine_key()) != nullptr;
    if (is_quarantined && !std::exchange(was_quarantined_, true))
        must_not_vote_until_ = loop_.now() + instant(plan_.ttl_max);
    was_quarantined_ = is_quarantined;
}

std::vector<redlock_server::watched_hold> redlock_server::holds_of(const std::string& name) {
    auto& data = network_.server().data();
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
        if (result.back().expires_ms > *stored->expires_ms && !plan_.rolls_back)
            holds_.fail("the lock " + name + " expires at a node before its last reader");
    }
    return result;
}

void redlock_server::compare_lock(const std::string& name, const words* command) {
    const auto present = holds_of(name);
    auto& known = known_[name];
    for (auto each = known.begin(); each != known.end();) {
        const bool is_present = std::ranges::any_of(present, [&](const watched_hold& other) {
            return without_counter(other.value) == each->first;
        });
        if (!is_present) judge_end(name, each->second, command);
        each = is_present ? std::next(each) : known.erase(each);
    }
    for (const auto& each : present)
        watch(name, each.value, each.expires_ms, command);
}

void redlock_server::watch(const std::string& name, const std::string& value,
                           std::int64_t expires_ms, const words* command) {
    auto& known = known_[name];
    const auto position = known.find(without_counter(value));
    const bool is_new = position == known.end();
    if (is_new && command != nullptr && loop_.now() < must_not_vote_until_) {
        trace_.write("a node votes early");
        holds_.note_weak_node("");
    }
    if (!is_new && position->second.expires_ms == expires_ms) return;
    const auto left = std::chrono::milliseconds(expires_ms - network_.server().data().now_ms());
    known[std::string(without_counter(value))] = {value, expires_ms, loop_.now() + left};
    if (plan_.judges_renewals && command != nullptr) judge_renewal(name, *command);
}

// The sender has given the lock up when the lease of its last renewal has ended.
void redlock_server::judge_renewal(const std::string& name, const words& command) {
    const auto sent = sent_at_.find(&command);
    const bool is_renewal =
        is_call_of(command, scripts::renew) || is_call_of(command, scripts::read_renew);
    if (!is_renewal || sent == sent_at_.end()) return;
    const auto tolerance =
        instant(plan_.longest_ttl) / 20 + plan_.network.longest_delay + longest_clock_error;
    if (loop_.now() > sent->second + plan_.longest_ttl + tolerance)
        holds_.fail("a renewal that was executed late prolongs the lock " + name);
}

void redlock_server::judge_end(const std::string& name, const watched_hold& ended,
                               const words* command) {
    const bool has_expired = network_.server().data().now_ms() >= ended.expires_ms;
    // The drift of a client's deadline covers as much.
    const auto tolerance = instant(plan_.longest_ttl) / 100;
    if (has_expired) {
        if (loop_.now() + tolerance < ended.lasts_until) holds_.note_weak_node(name);
        return;
    }
    if (command == nullptr) {
        if (remembers()) holds_.note_weak_node(name);
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
    // The key of readers came back with its earlier end.
    const bool has_key = network_.server().data().find(keys_of(name).lock()) != nullptr;
    if (plan_.rolls_back && !has_key) return holds_.note_weak_node(name);
    holds_.fail("a node has lost the lock " + name + " by a request of somebody else");
}

void redlock_server::forget(instant down) {
    const auto kind = random_.below(5);
    trace::line(trace_) << label_ << " forgets, fault " << static_cast<std::int64_t>(kind);
    switch (kind) {
    case 0: return network_.change_data([](simulated_redis& redis) { redis.flush_all(); });
    case 1:
        return network_.change_data([](simulated_redis& redis) { redis.evict(0, member_key()); });
    case 2: return restart({}, down);
    case 3: return restart(backup_, down);
    default: return restart(network_.server().take_snapshot(), down);
    }
}

void redlock_server::restart(simulated_redis::snapshot with, instant down) {
    network_.stop_server();
    loop_.schedule_after(down, [this, with = std::move(with)]() mutable {
        if (!network_.is_up()) network_.start_server(std::move(with));
    });
}

void redlock_server::evict_a_key() {
    const auto keys = keys_of(names()[random_.below(names().size())]);
    const std::array<std::string, 6> all{std::string(keys.lock()),    std::string(keys.fence()),
                                         std::string(keys.queue()),   std::string(keys.holders()),
                                         std::string(keys.details()), quarantine_key()};
    const auto& key = all[random_.below(all.size())];
    trace_.write("a node evicts " + key);
    network_.change_data([&](simulated_redis& redis) { redis.evict(0, key); });
}

void redlock_server::roll_back() {
    const bool is_whole = random_.happens(0.5);
    trace_.write(label_ + (is_whole ? " gets old data back" : " gets some old keys back"));
    network_.change_data([&](simulated_redis& redis) {
        if (is_whole) return redis.roll_back(backup_);
        for (const auto& [key, entry] : backup_.front())
            if (random_.happens(0.5)) redis.restore(key, entry);
    });
}

}  // namespace pawl::simulation
