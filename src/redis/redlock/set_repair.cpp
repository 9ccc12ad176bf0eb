// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "set_repair.hpp"

#include "../common/waits.hpp"

#include "../../core/util/flag_guard.hpp"
#include "../../core/util/random.hpp"
#include "../transport/numbers.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {

void set_repair::start() {
    if (!is_running_ && nodes_.now() >= next_start_) spawn_as(is_running_, run());
}

void set_repair::spawn_as(bool& is_active, asio::awaitable<void> operation) {
    is_active = true;
    try {
        client_.spawn(std::move(operation));
    } catch (...) {
        is_active = false;
        throw;
    }
}

void set_repair::repeat_without_requests() {
    if (!parts_.notes.may_begin_set || is_repeating_ || is_stopped_) return;
    if (view_.needs_repair()) spawn_as(is_repeating_, repeat());
}

asio::awaitable<void> set_repair::repeat() {
    const core::flag_guard guard(is_repeating_);
    core::back_off pauses(*context_.time, {.first = 1s, .longest = 60s});
    while (!is_stopped_ && view_.needs_repair()) {
        if (parts_.connections.is_complete()) start();
        const auto next = nodes_.now() + pauses.next_pause();
        while (!is_stopped_ && nodes_.now() < next)
            co_await parts_.changed.wait_until(next);
    }
}

void set_repair::stop() {
    is_stopped_ = true;
    parts_.changed.notify_all();
}

bool set_repair::ends_soon() const {
    if (!is_running_ || !parts_.connections.is_complete()) return false;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_.link_of(i).connected() && parts_.timing.is_silent(i)) return false;
    return true;
}

// Ends when the nodes' standings are known: an acquire that still finds no majority starts the next
// repair, after a pause of its own.
asio::awaitable<void> set_repair::run() {
    struct end_guard {
        set_repair& owner;
        ~end_guard() {
            owner.is_running_ = false;
            owner.next_start_ = owner.nodes_.now() + owner.pauses_.next_pause();
            owner.parts_.changed.notify_all();
        }
    };
    const end_guard guard{*this};
    // Clients that notice the same loss do not all repair it at once.
    const auto pause = core::random_between(*context_.time, 0ms, 20ms);
    const bool is_open = co_await client_.pause_until(nodes_.now() + pause);
    if (!is_open) co_return;
    try {
        co_await repair_once();
        if (!view_.needs_repair()) pauses_.reset();
    } catch (const error& e) {
        parts_.notes.trouble = e.what();
    }
}

asio::awaitable<void> set_repair::repair_once() {
    auto known = co_await parts_.requests.prepare_all();
    const bool has_retired = co_await retire_outdated();
    if (has_retired) known = co_await parts_.requests.prepare_all();
    parts_.notes.trouble.clear();
    if (view_.count_members() >= nodes_.majority()) {
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (known[i] && nodes_[i].state == standing::forgetful) co_await install_anew(i, known);
    } else if (std::ranges::any_of(known,
                                   [this](const auto& each) { return nodes_.is_member(each); })) {
        co_await parts_.beginning.finish(known);
    } else if (std::ranges::all_of(known,
                                   [](const auto& each) { return each && !each->is_member; })) {
        if (parts_.notes.may_begin_set)
            co_await parts_.beginning.begin(known, quarantine_);
        else
            parts_.notes.trouble = no_set;
    } else if (!std::ranges::all_of(known, &std::optional<member_report>::has_value)) {
        std::string missing;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (!known[i]) missing += (missing.empty() ? "" : ", ") + nodes_.name_of(i);
        parts_.notes.trouble =
            "a set begins only when all of its nodes can join, and nodes that do not answer could "
            "be the majority of an earlier set: " +
            missing;
    }
    static_cast<void>(co_await parts_.requests.prepare_all());
}

// An operator may have reset the epochs of the Sentinels, and says so.
bool set_repair::is_replaced_master(std::size_t node) const {
    return !is_operator_ && nodes_.link_of(node).current().epoch < view_.latest_epoch(node);
}

// The name of an outdated node may lead to another server by now. If it does not, the node's
// memory must end: what it granted must not count with what the later memory has granted since. So
// it gets a new nonce, and joins as after a loss. Two servers that answer to one name could replace
// each other for ever: each client does this at most once in a quarantine.
asio::awaitable<bool> set_repair::retire_outdated() {
    bool has_retired = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& node = nodes_[i];
        auto& memo_of_node = memos_[i];
        if (node.state != standing::outdated || !nodes_.link_of(i).connected()) continue;
        if (!is_operator_ && memo_of_node.reconnected_for != node.member.nonce) {
            memo_of_node.reconnected_for = node.member.nonce;
            log(i, diagnosis_.objection_of(i));
            co_await parts_.requests.leave_server(i);
            continue;
        }
        if (view_.count_members() < nodes_.majority() || is_replaced_master(i)) continue;
        if (!is_operator_ && nodes_.now() < memo_of_node.next_retirement) continue;
        memo_of_node.next_retirement =
            nodes_.now() + core::random_between(*context_.time, quarantine_, quarantine_ * 3 / 2);
        // A node that refuses this must not keep the others from joining.
        try {
            const bool is_forgotten = co_await parts_.requests.forget(i, node.member.nonce);
            has_retired = has_retired || is_forgotten;
        } catch (const error& e) {
            log(i, std::string("its old membership was not ended: ") + e.what());
        }
    }
    co_return has_retired;
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
asio::awaitable<void> set_repair::install_anew(std::size_t node, const reports& known) {
    const auto& nonce = known[node]->member.nonce;
    if (is_replaced_master(node)) {
        parts_.notes.trouble =
            nodes_.name_of(node) +
            " is an old master: the set knows one with a later "
            "config-epoch; if the Sentinels' epochs were reset, run pawl redlock "
            "rejoin";
        co_return;
    }
    std::int64_t incarnation = 1;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (i != node && nodes_[i].is_member())
            incarnation = std::max(incarnation, next_incarnation(nodes_[i].member, node, nonce));
    const auto marked = co_await parts_.requests.mark_at_others(node, nonce, incarnation);
    std::vector<member_mark> vector(nodes_.size());
    std::int64_t highest = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!marked[i] || is_outdated(marked, i)) continue;
        merge_marks(vector, marked[i]->member.vector);
        highest = std::max(highest, marked[i]->highest);
        ++count;
    }
    if (count < nodes_.majority()) {
        parts_.notes.trouble =
            nodes_.name_of(node) + " can join when a majority of the other nodes answers";
        co_return;
    }
    vector[node] = {incarnation, nonce};
    install_call call{.set = nodes_.set(),
                      .nonce = nonce,
                      .incarnation = std::to_string(incarnation),
                      .vector = text_of(vector),
                      .highest = std::to_string(highest),
                      .quarantine_ms = redis::milliseconds_text(quarantine_),
                      .genesis = ""};
    const bool is_installed = co_await parts_.requests.install(node, std::move(call));
    if (is_installed)
        log(node,
            "had lost its data, or another server answers to its name now; it has joined the "
            "set again, and votes in " +
                redis::milliseconds_text(quarantine_) + " ms");
}

}  // namespace pawl::redlock
