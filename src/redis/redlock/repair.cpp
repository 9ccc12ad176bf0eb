// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How a node that has lost its data becomes a member again, and a member that the others know to be
// replaced. Every client may do this at any time: a nonce names each memory of a node, and nothing
// is installed under another nonce.
#include "members.hpp"

#include "node_request.hpp"

#include "../common/lock_base.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/flag_guard.hpp"
#include "../../core/util/random.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {

void members::start_repair() {
    if (!is_repairing_ && now() >= next_repair_) spawn_as(is_repairing_, repair());
}

void members::spawn_as(bool& is_running, asio::awaitable<void> operation) {
    is_running = true;
    try {
        client_.spawn(std::move(operation));
    } catch (...) {
        is_running = false;
        throw;
    }
}

void members::repair_without_requests() {
    if (!may_begin_set_ || repeats_repairs_ || is_stopped_) return;
    if (std::ranges::any_of(nodes_, &node_record::needs_repair))
        spawn_as(repeats_repairs_, repeat_repairs());
}

asio::awaitable<void> members::repeat_repairs() {
    const core::flag_guard guard(repeats_repairs_);
    core::back_off pauses(*context_.time, {.first = 1s, .longest = 60s});
    while (!is_stopped_ && std::ranges::any_of(nodes_, &node_record::needs_repair)) {
        if (is_connected()) start_repair();
        const auto next = now() + pauses.next_pause();
        while (!is_stopped_ && now() < next)
            co_await changed_.wait_until(next);
    }
}

void members::stop() {
    is_stopped_ = true;
    changed_.notify_all();
}

bool members::repairs_soon() const {
    return is_repairing_ && is_connected() &&
           std::ranges::none_of(nodes_, [this](const node_record& each) {
               return each.server->connected() && each.silent_from <= now();
           });
}

// Ends when the nodes' standings are known: an acquire that still finds no majority starts the next
// repair, after a pause of its own.
asio::awaitable<void> members::repair() {
    struct end_guard {
        members& owner;
        ~end_guard() {
            owner.is_repairing_ = false;
            owner.next_repair_ = owner.now() + owner.repair_pauses_.next_pause();
            owner.changed_.notify_all();
        }
    };
    const end_guard guard{*this};
    // Clients that notice the same loss do not all repair it at once.
    const auto pause = core::random_between(*context_.time, 0ms, 20ms);
    const bool is_open = co_await client_.pause_until(now() + pause);
    if (!is_open) co_return;
    try {
        co_await repair_once();
        if (std::ranges::none_of(nodes_, &node_record::needs_repair)) repair_pauses_.reset();
    } catch (const error& e) {
        repair_trouble_ = e.what();
    }
}

asio::awaitable<void> members::repair_now() {
    may_begin_set_ = is_operator_ = true;
    co_await learn_standings();
    co_await repair_once();
}

asio::awaitable<void> members::repair_once() {
    auto known = co_await prepare_all();
    const bool has_retired = co_await retire_outdated();
    if (has_retired) known = co_await prepare_all();
    repair_trouble_.clear();
    if (count_members() >= majority()) {
        for (std::size_t i = 0; i < size(); ++i)
            if (known[i] && nodes_[i].state == standing::forgetful) co_await install_anew(i, known);
    } else if (std::ranges::any_of(known, [this](const auto& each) { return is_member(each); })) {
        co_await finish_genesis(known);
    } else if (std::ranges::all_of(known,
                                   [](const auto& each) { return each && !each->is_member; })) {
        if (may_begin_set_)
            co_await begin_set_of(known, quarantine_);
        else
            repair_trouble_ = no_set;
    } else if (!std::ranges::all_of(known, &std::optional<member_report>::has_value)) {
        std::string missing;
        for (std::size_t i = 0; i < size(); ++i)
            if (!known[i]) missing += (missing.empty() ? "" : ", ") + name_of(i);
        repair_trouble_ =
            "a set begins only when all of its nodes can join, and nodes that do not answer could "
            "be the majority of an earlier set: " +
            missing;
    }
    static_cast<void>(co_await prepare_all());
}

asio::awaitable<members::reports> members::prepare_all() {
    reports result(size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < size(); ++i)
        if (nodes_[i].state != standing::unsuitable) requests.push_back(prepare_one(i, result));
    co_await client_.join(std::move(requests));
    co_return result;
}

std::string members::new_nonce(std::size_t node) {
    return make_nonce(core::random_hex(*context_.time, 16), link_of(node).current().epoch);
}

asio::awaitable<void> members::prepare_one(std::size_t node, reports& into) {
    try {
        const auto nonce = new_nonce(node);
        const prepare_call call{set_, nonce};
        const auto answer =
            co_await ask_node(link_of(node), call, now() + reply_timeout_, always, &known_scripts_);
        redis::throw_if_error(answer, name_of(node));
        auto report = call.read(answer);
        adopt(node, report);
        if (nodes_[node].state != standing::unsuitable) into[node] = std::move(report);
    } catch (const error& e) {
        nodes_[node].trouble = e.what();
    }
}

std::size_t members::count_members() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(nodes_, [](const node_record& each) { return each.is_member(); }));
}

// The epoch of the node's latest memory that the others know. A server with a smaller one is a
// master that the Sentinels have replaced.
std::uint64_t members::latest_epoch(std::size_t node) const {
    member_mark latest;
    for (const auto& each : nodes_)
        if (each.is_member() && node < each.member.vector.size() &&
            each.member.vector[node].incarnation > latest.incarnation)
            latest = each.member.vector[node];
    return epoch_of(latest.nonce);
}

// An operator may have reset the epochs of the Sentinels, and says so.
bool members::is_replaced_master(std::size_t node) const {
    return !is_operator_ && link_of(node).current().epoch < latest_epoch(node);
}

// The name of an outdated node may lead to another server by now. If it does not, the node's
// memory must end: what it granted must not count with what the later memory has granted since. So
// it gets a new nonce, and joins as after a loss. Two servers that answer to one name could replace
// each other for ever: each client does this at most once in a quarantine.
asio::awaitable<bool> members::retire_outdated() {
    bool has_retired = false;
    for (std::size_t i = 0; i < size(); ++i) {
        auto& node = nodes_[i];
        if (node.state != standing::outdated || !link_of(i).connected()) continue;
        if (!is_operator_ && node.reconnected_for != node.member.nonce) {
            node.reconnected_for = node.member.nonce;
            log(i, objection_of(i));
            co_await leave_server(i);
            continue;
        }
        if (count_members() < majority() || is_replaced_master(i)) continue;
        if (!is_operator_ && now() < node.next_retirement) continue;
        node.next_retirement =
            now() + core::random_between(*context_.time, quarantine_, quarantine_ * 3 / 2);
        const bool is_forgotten = co_await forget(i, node.member.nonce);
        has_retired = has_retired || is_forgotten;
    }
    co_return has_retired;
}

// The server ends the connection, and the link looks for the node's server anew.
asio::awaitable<void> members::leave_server(std::size_t node) {
    const std::array<std::string_view, 1> quit{"QUIT"};
    try {
        static_cast<void>(co_await link_of(node).exec(quit, now() + reply_timeout_));
    } catch (const error&) {}  // the connection has ended by itself
}

asio::awaitable<bool> members::forget(std::size_t node, std::string only) {
    const auto nonce = new_nonce(node);
    const forget_call call{set_, nonce, only};
    const auto answer = co_await ask_node(link_of(node), call, now() + reply_timeout_);
    redis::throw_if_error(answer, name_of(node));
    co_return call.read(answer);
}

// Writes the node's memory mark at the others, and collects their answers.
asio::awaitable<std::vector<std::optional<mark_call::answer>>> members::mark_at_others(
    std::size_t node, std::string nonce, std::int64_t incarnation) {
    const mark_call call{set_, std::to_string(node), std::to_string(incarnation), nonce};
    std::vector<std::optional<mark_call::answer>> answers(size());
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < size(); ++i)
        if (i != node && nodes_[i].is_member()) requests.push_back(mark_at(i, call, answers[i]));
    co_await client_.join(std::move(requests));
    co_return answers;
}

asio::awaitable<void> members::mark_at(std::size_t node, const mark_call& call,
                                       std::optional<mark_call::answer>& into) {
    try {
        const auto reply = co_await ask_node(link_of(node), call, now() + reply_timeout_);
        redis::throw_if_error(reply, name_of(node));
        auto answer = call.read(reply);
        if (answer.is_marked && is_sound(answer.member, answer.highest, size()))
            into = std::move(answer);
    } catch (const error& e) {
        nodes_[node].trouble = e.what();
    }
}

namespace {

// Another node that has the memory mark knows a later memory of this one: its answer does not
// count.
bool is_outdated(const std::vector<std::optional<mark_call::answer>>& marked, std::size_t node) {
    if (is_of_another_node(marked[node]->member, node)) return true;
    return std::ranges::any_of(marked, [&](const auto& other) {
        return other && has_heard_of_later(other->member, node, marked[node]->member);
    });
}

}  // namespace

// Writes the new memory mark to a majority first, and reads their highest tokens in the same step.
// A quorum that counts what an earlier memory of the node granted has a node in common with that
// majority: if it was confirmed there before, its token is read here; and if not, it is rejected
// there.
asio::awaitable<void> members::install_anew(std::size_t node, const reports& known) {
    const auto& nonce = known[node]->member.nonce;
    if (is_replaced_master(node)) {
        repair_trouble_ = name_of(node) +
                          " is an old master: the set knows one with a later "
                          "config-epoch; if the Sentinels' epochs were reset, run pawl redlock "
                          "rejoin";
        co_return;
    }
    std::int64_t incarnation = 1;
    for (std::size_t i = 0; i < size(); ++i)
        if (i != node && nodes_[i].is_member())
            incarnation = std::max(incarnation, next_incarnation(nodes_[i].member, node, nonce));
    const auto marked = co_await mark_at_others(node, nonce, incarnation);
    std::vector<member_mark> vector(size());
    std::int64_t highest = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        if (!marked[i] || is_outdated(marked, i)) continue;
        merge_marks(vector, marked[i]->member.vector);
        highest = std::max(highest, marked[i]->highest);
        ++count;
    }
    if (count < majority()) {
        repair_trouble_ = name_of(node) + " can join when a majority of the other nodes answers";
        co_return;
    }
    vector[node] = {incarnation, nonce};
    install_call call{.set = set_,
                      .nonce = nonce,
                      .incarnation = std::to_string(incarnation),
                      .vector = redlock::text_of(vector),
                      .highest = std::to_string(highest),
                      .quarantine_ms = redis::milliseconds_text(quarantine_),
                      .genesis = ""};
    const bool is_installed = co_await install(node, std::move(call));
    if (is_installed)
        log(node,
            "had lost its data, or another server answers to its name now; it has joined the "
            "set again, and votes in " +
                redis::milliseconds_text(quarantine_) + " ms");
}

asio::awaitable<bool> members::install(std::size_t node, install_call call) {
    try {
        const auto answer =
            co_await ask_node(link_of(node), call, now() + reply_timeout_, always, &known_scripts_);
        redis::throw_if_error(answer, name_of(node));
        co_return call.read(answer);
    } catch (const error& e) {
        nodes_[node].trouble = e.what();
        co_return false;
    }
}

}  // namespace pawl::redlock
