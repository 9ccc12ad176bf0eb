// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_table.hpp"

#include "../transport/numbers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pawl::redlock {

node_table::node_table(const std::vector<redis::link*>& nodes, std::vector<std::string> names,
                       const set_parameters& set, const runtime& time)
    : set_(set), time_(time) {
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes_.push_back({.server = nodes[i], .name = std::move(names[i])});
}

std::vector<std::string> node_table::names() const {
    std::vector<std::string> result;
    for (const auto& each : nodes_)
        result.push_back(each.name);
    return result;
}

std::size_t node_table::index_of(const redis::link& node_link) const noexcept {
    return static_cast<std::size_t>(std::ranges::find(nodes_, &node_link, &node_record::server) -
                                    nodes_.begin());
}

bool node_table::may_vote(std::size_t node) const {
    const auto& candidate = nodes_[node];
    return candidate.is_member() && candidate.quarantine_ends <= now();
}

bool node_table::is_member(const std::optional<member_report>& report) const {
    return report && report->is_member && report->set == set_.set;
}

std::optional<std::size_t> node_table::node_with_same_server(std::size_t node) const {
    const auto& run_id = nodes_[node].server->current().run_id;
    for (std::size_t i = 0; i < size(); ++i)
        if (i != node && !run_id.empty() && nodes_[i].server->connected() &&
            nodes_[i].server->current().run_id == run_id)
            return i;
    return std::nullopt;
}

std::string node_table::objection_to_server(std::size_t node) const {
    const auto& session = nodes_[node].server->current();
    if (session.run_id.empty())
        return "its run id is not known, so a restart, or a second name of the server, could not "
               "be noticed; allow the user INFO, as pawl acl shows";
    if (set_.is_fenced && !is_sound_clock(session.time_us))
        return "its clock shows a time before 1970 or after 2069; set it right, and connect again";
    return {};
}

void node_table::forget_standing(std::size_t node) noexcept {
    nodes_[node].state = standing::unknown;
    nodes_[node].is_second_name = false;
    nodes_[node].trouble.clear();
}

void node_table::adopt(std::size_t node, const member_report& report) {
    auto& asked = nodes_[node];
    const bool is_of_set = report.is_member && report.set == set_.set;
    // The server itself knows which node it is, if it is one.
    const bool is_this_node =
        is_of_set && set_.is_fenced && !is_of_another_node(report.member, node);
    const auto same_server = is_this_node ? std::nullopt : node_with_same_server(node);
    asked.is_second_name = same_server.has_value();
    asked.trouble = same_server ? "is the same server as " + name_of(*same_server) +
                                      "; each node must be a server of its own"
                                : objection_to_server(node);
    if (asked.trouble.empty() && is_of_set && set_.is_fenced &&
        !is_sound(report.member, report.highest, size()))
        asked.trouble = "its membership is damaged; delete its key " + set_.member_key +
                        ", and the node joins again as after a loss of its data";
    if (!asked.trouble.empty()) {
        asked.state = standing::unsuitable;
    } else if (!report.is_member) {
        asked.state = standing::forgetful;
    } else if (!is_of_set) {
        asked.state = standing::other_set;
        asked.other_nodes = report.nodes;
    } else {
        asked.state = standing::member;
        asked.member = report.member;
        asked.highest = report.highest;
        asked.quarantine_ends =
            now() + std::chrono::milliseconds(std::clamp<std::int64_t>(
                        report.quarantine_ms, 0, redis::milliseconds_of(1LL << 50).count()));
    }
    judge_members();
}

void node_table::adopt_without_membership(std::size_t node) {
    adopt(node, {.is_member = true, .set = set_.set});
}

void node_table::judge_members() {
    const auto is_known = [](const node_record& each) {
        return each.server->connected() &&
               (each.state == standing::member || each.state == standing::outdated);
    };
    for (std::size_t i = 0; i < size(); ++i) {
        auto& judged = nodes_[i];
        if (!is_known(judged)) continue;
        const bool is_outdated = is_of_another_node(judged.member, i) ||
                                 std::ranges::any_of(nodes_, [&](const node_record& each) {
                                     return &each != &judged && is_known(each) &&
                                            has_heard_of_later(each.member, i, judged.member);
                                 });
        judged.state = is_outdated ? standing::outdated : standing::member;
    }
}

void node_table::note_refusal(std::size_t node, const standing_reply& refusal) {
    auto& asked = nodes_[node];
    switch (refusal.refusal) {
    case objection::none: return;
    case objection::quarantine:
        asked.quarantine_ends = now() + redis::milliseconds_of(refusal.quarantine_ms);
        return;
    case objection::other_set: asked.state = standing::other_set; return;
    case objection::amnesia: asked.state = standing::forgetful; return;
    }
}

void node_table::note_failed_connection(std::size_t node, const error& failure) {
    nodes_[node].trouble = failure.what();
    nodes_[node].trouble_reason = failure.reason();
}

}  // namespace pawl::redlock
