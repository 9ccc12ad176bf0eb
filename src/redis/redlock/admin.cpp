// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "guarantees.hpp"
#include "independent_servers.hpp"
#include "node_failures.hpp"
#include "node_request.hpp"
#include "redlock_options.hpp"

#include "../common/values.hpp"
#include "../doctor/doctor.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace asio = boost::asio;
using grade = pawl::finding::grade;

namespace pawl::redlock {

// What one node says of a lock.
struct locks::node_view {
    std::optional<error> failure{};
    inspect_call::answer state{};
};

// The nodes' answers to one half of a forced release.
struct locks::forced_round {
    node_failures failures;
    std::size_t took_part = 0;  // nodes
    std::int64_t highest = 0;   // of their counters
    bool is_held = false;       // at one of them
};

namespace {

// The protocol is the same in all of them.
finding versions_finding(const std::set<std::string>& versions) {
    std::string text;
    for (const auto& each : versions)
        text += (text.empty() ? "" : ", ") + each;
    return {grade::note, "versions", text,
            "the nodes have different versions, as during an update; update the others, one node "
            "at a time, and wait until it votes again"};
}

finding tokens_finding(std::chrono::seconds ahead) {
    return {
        grade::warning, "tokens", std::to_string(ahead.count()) + " s ahead of the nodes' clocks",
        "until the clocks reach them, tokens can repeat after a node gets older data back while "
        "it runs; never do that to a node"};
}

}  // namespace

asio::awaitable<void> locks::require_majority() {
    const auto trouble = co_await members_.wait_for_readable(reply_deadline());
    if (trouble) throw *trouble;
}

asio::awaitable<void> locks::inspect_at(const redis::keys& lock_keys, std::size_t node,
                                        node_view& into) {
    try {
        const inspect_call call{set_, lock_keys};
        const auto reply =
            co_await ask_node(members_.nodes().link_of(node), call, reply_deadline());
        redis::throw_if_error(reply, members_.nodes().name_of(node));
        into.state = call.read(reply);
    } catch (const error& e) {
        into.failure = e;  // the others decide
    }
}

// Throws unless a majority has answered.
void locks::require_answers(const node_failures& failures, const std::string& consequence) const {
    if (failures.count() <= members_.nodes().size() - members_.nodes().majority()) return;
    throw error(failures.lasting_reason().value_or(errc::no_quorum),
                consequence + failures.text(members_.nodes().names()) + ".");
}

asio::awaitable<std::vector<locks::node_view>> locks::inspect_all(const redis::keys& lock_keys) {
    std::vector<node_view> views(members_.nodes().size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        requests.push_back(inspect_at(lock_keys, i, views[i]));
    co_await run_all(std::move(requests));
    node_failures failures(members_.nodes().size());
    for (std::size_t i = 0; i < views.size(); ++i)
        if (views[i].failure) failures.add(i, *views[i].failure);
    require_answers(failures, "Fewer than " + std::to_string(members_.nodes().majority()) +
                                  " nodes show the lock: ");
    co_return views;
}

namespace {

// The holds of one lock at the nodes, by their values.
class observed_holds {
public:
    void add(const std::string& value, fencing_token token, std::int64_t left_ms, lock_mode mode) {
        auto& seen = holds_[value];
        seen.counters.push_back(token);
        seen.left_ms = std::max(seen.left_ms, left_ms);
        seen.mode = mode;
    }

    // Those that so many nodes have: `least`, which is a majority unless nodes have lost their data
    // or give no answer. A minority may have the rest of an attempt.
    [[nodiscard]] std::vector<holder> holders(std::size_t least) {
        std::vector<holder> result;
        for (auto& [value, seen] : holds_) {
            if (seen.counters.size() < least) continue;
            auto& each = result.emplace_back(redis::parse_value(value));
            // The token is the number of a majority. A node that answered late may have a larger
            // one, and one that is not confirmed yet has a smaller one.
            std::ranges::sort(seen.counters, std::ranges::greater{});
            each.token = seen.counters[least - 1];
            each.remaining = redis::milliseconds_of(seen.left_ms);
            each.mode = seen.mode;
        }
        std::ranges::stable_sort(result, {}, &holder::since);
        return result;
    }

private:
    struct observation {
        std::vector<fencing_token> counters{};  // of the nodes
        std::int64_t left_ms = 0;
        lock_mode mode = lock_mode::exclusive;
    };
    std::map<std::string, observation> holds_;
};

}  // namespace

asio::awaitable<lock_info> locks::inspect(std::string_view name) {
    co_await require_majority();
    lock_info info;
    info.name = name;
    const auto lock_keys = scheme_.keys_of(name);
    const auto views = co_await inspect_all(lock_keys);
    observed_holds seen;
    for (const auto& [failure, state] : views) {
        info.waiters = std::max(info.waiters, state.waiters);
        if (state.value) seen.add(*state.value, state.token, state.left_ms, lock_mode::exclusive);
        for (const auto& each : state.readers)
            seen.add(each.value, each.token, each.left_ms, lock_mode::shared);
    }
    auto holders = seen.holders(members_.view().least_views());
    if (holders.empty()) co_return info;
    info.held_by = std::move(holders.front());
    info.others.assign(std::next(holders.begin()), holders.end());
    co_return info;
}

asio::awaitable<void> locks::scan_at(const std::string& glob, std::size_t node,
                                     std::set<std::string>& into, node_failures& failures) {
    const std::string type = set_.layout == node_layout::redisson ? "hash" : "string";
    if (!members_.nodes().link_of(node).connected())
        co_return failures.add(node,
                               error(errc::unreachable, members_.diagnosis().objection_of(node)));
    try {
        co_await scan_server(*listing_servers().links()[node], into, members_.nodes().name_of(node),
                             glob, type);
    } catch (const error& e) {
        failures.add(node, e);  // a lock that a majority has is in another node's list, too
    }
}

asio::awaitable<std::vector<lock_info>> locks::list(std::string_view prefix) {
    co_await require_majority();
    const auto glob = scheme_.glob(prefix);
    node_failures failures(members_.nodes().size());
    std::set<std::string> keys;
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        requests.push_back(scan_at(glob, i, keys, failures));
    co_await run_all(std::move(requests));
    require_answers(failures, "Fewer than " + std::to_string(members_.nodes().majority()) +
                                  " nodes list their locks: ");
    std::set<std::string> names;
    for (const auto& key : keys)
        if (auto name = scheme_.name_of(key)) names.insert(std::move(*name));
    std::vector<lock_info> locks_held;
    for (const auto& name : names) {
        auto info = co_await inspect(name);
        if (info.held_by) locks_held.push_back(std::move(info));
    }
    co_return locks_held;
}

// First a majority says how far its counters are; then a majority raises them above all of these,
// and gives the lock up. So no earlier hold can be renewed, and a later one keeps its keys:
// models/redlock/force.pml. That includes a hold that no node has at the moment: its next renewal
// would restore it.
// With an expected token, a majority raises its counters to the next number only: this ends the
// hold with that token and earlier ones, and a later hold keeps its keys.
asio::awaitable<bool> locks::force_release(std::string_view name, fencing_token expected) {
    co_await require_majority();
    const auto lock = lock_with(name, {});
    if (expected) {
        const auto is_present = co_await has_holder(name, expected);
        if (!is_present) co_return false;
        co_await raise_counters(lock, static_cast<std::int64_t>(expected.value()) + 1);
        const auto is_still_held = co_await has_holder(name, expected);
        co_return !is_still_held;
    }
    forced_round round{.failures = node_failures(members_.nodes().size())};
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        requests.push_back(read_counter_at(lock.keys, i, round));
    co_await run_all(std::move(requests));
    require_part_of_majority(round, name);
    // Without fencing, no renewal restores anything.
    if (!set_.is_fenced() && !round.is_held) co_return false;
    co_await raise_counters(lock, round.highest + 1);
    co_return round.is_held;
}

asio::awaitable<void> locks::read_counter_at(const redis::keys& lock_keys, std::size_t node,
                                             forced_round& round) {
    try {
        const counter_call call{set_, lock_keys};
        const auto reply =
            co_await ask_node(members_.nodes().link_of(node), call, reply_deadline());
        redis::throw_if_error(reply, members_.nodes().name_of(node));
        const auto answer = call.read(reply);
        const bool takes_part = add_to_round(node, answer.standing, round);
        if (!takes_part) co_return;
        round.highest = std::max(round.highest, answer.counter);
        round.is_held = round.is_held || answer.is_held;
    } catch (const error& e) {
        round.failures.add(node, e);
    }
}

bool locks::add_to_round(std::size_t node, const standing_reply& answer, forced_round& round) {
    members_.on_objection(node, answer);
    if (answer.refusal == objection::none) {
        ++round.took_part;
        return true;
    }
    round.failures.add(
        node, error(members_.diagnosis().reason_of(node), members_.diagnosis().objection_of(node)));
    return false;
}

void locks::require_part_of_majority(const forced_round& round, std::string_view name) const {
    if (round.took_part >= members_.nodes().majority()) return;
    throw error(round.failures.lasting_reason().value_or(errc::no_quorum),
                "The lock '" + std::string(name) +
                    "' may still be held; fewer than a majority of the nodes took part in the "
                    "release: " +
                    round.failures.text(members_.nodes().names()) + ".");
}

// The second half of a forced release. Throws unless a majority has taken part.
asio::awaitable<void> locks::raise_counters(const requested_lock& lock, std::int64_t limit) {
    forced_round round{.failures = node_failures(members_.nodes().size())};
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        requests.push_back(raise_counter_at(lock, limit, i, round));
    co_await run_all(std::move(requests));
    require_part_of_majority(round, lock.name);
}

asio::awaitable<void> locks::raise_counter_at(const requested_lock& lock, std::int64_t limit,
                                              std::size_t node, forced_round& round) {
    try {
        const barrier_call call{set_, lock, std::to_string(limit)};
        const auto reply =
            co_await ask_node(members_.nodes().link_of(node), call, reply_deadline());
        redis::throw_if_error(reply, members_.nodes().name_of(node));
        static_cast<void>(add_to_round(node, call.read(reply), round));
    } catch (const error& e) {
        round.failures.add(node, e);
    }
}

asio::awaitable<bool> locks::has_holder(std::string_view name, fencing_token token) {
    const auto info = co_await inspect(name);
    const auto has_token = [token](const holder& each) { return each.token == token; };
    co_return info.held_by &&
        (has_token(*info.held_by) || std::ranges::any_of(info.others, has_token));
}

asio::awaitable<examination> locks::examine() {
    examination report;
    static_cast<void>(co_await members_.wait_for_readable(reply_deadline()));
    std::size_t voters = 0;
    node_failures failures(members_.nodes().size());
    std::set<std::string> versions;
    for (std::size_t i = 0; i < members_.nodes().size(); ++i) {
        const auto& name = members_.nodes().name_of(i);
        auto row = name;
        const auto objection = members_.diagnosis().objection_of(i);
        if (objection.empty()) ++voters;
        const auto& session = members_.nodes().link_of(i).current();
        if (members_.nodes().link_of(i).connected() && !session.version.empty())
            versions.insert(session.server + " " + session.version);
        try {
            const auto server = servers_->part_with(members_.nodes().link_of(i));
            auto of_node =
                co_await redis::examine_servers(*server, time(), redlock_options_.nodes[i]);
            // A master that Sentinels name has a row with its address.
            const bool is_monitored = !redlock_options_.nodes[i].sentinel.addresses.empty();
            if (is_monitored && !of_node.nodes.empty()) row = of_node.nodes.front().name;
            for (auto& each : of_node.findings) {
                // With fencing, a node that has restarted, or failed over, waits, whatever it has
                // stored.
                if (set_.is_fenced() && (each.topic == "persistence" || each.topic == "replicas"))
                    continue;
                if (each.node.empty() || each.node == name) each.node = row;
                report.findings.push_back(std::move(each));
            }
            report.nodes.insert(report.nodes.end(), of_node.nodes.begin(), of_node.nodes.end());
        } catch (const error& e) {
            failures.add(i, e);
            report.nodes.push_back({name, ""});
            report.findings.push_back(
                {grade::bad, "connection", e.what(), "see that the server runs", name});
            continue;
        }
        report.findings.push_back({objection.empty() ? grade::good : grade::warning, "membership",
                                   objection.empty() ? "votes" : objection, "", row});
    }
    if (failures.count() == members_.nodes().size())
        throw error(failures.lasting_reason().value_or(errc::no_quorum),
                    "No node can be examined: " + failures.text(members_.nodes().names()) + ".");
    if (versions.size() > 1) report.findings.push_back(versions_finding(versions));
    std::chrono::seconds tokens_ahead{};
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        tokens_ahead = std::max(tokens_ahead, members_.clocks().tokens_ahead(i));
    if (tokens_ahead.count() > 0) report.findings.push_back(tokens_finding(tokens_ahead));
    const bool has_majority = voters >= members_.nodes().majority();
    auto trouble = has_majority ? std::string() : members_.diagnosis().trouble_of_set();
    if (!has_majority && trouble.empty())
        trouble = "no lock can be acquired; see what each node says";
    report.findings.push_back({has_majority ? grade::good : grade::bad, "majority",
                               std::to_string(voters) + " of " +
                                   std::to_string(members_.nodes().size()) + " nodes vote, " +
                                   std::to_string(members_.nodes().majority()) + " are needed",
                               trouble});
    const bool has_sentinels = std::ranges::any_of(
        redlock_options_.nodes, [](const auto& each) { return !each.sentinel.addresses.empty(); });
    report.guarantees = guarantees_of(members_.nodes().size(), set_.is_fenced(), has_sentinels);
    co_return report;
}

}  // namespace pawl::redlock
