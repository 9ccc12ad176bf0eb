// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "set_view.hpp"

#include <algorithm>
#include <vector>

namespace pawl::redlock {

std::size_t set_view::count_voters() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_.may_vote(i)) ++count;
    return count;
}

std::size_t set_view::count_members() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        nodes_.records(), [](const node_record& each) { return each.is_member(); }));
}

bool set_view::needs_repair() const {
    return std::ranges::any_of(nodes_.records(), &node_record::needs_repair);
}

// A set begins only with all its nodes. One that has begun goes on without the node that has
// another one's server at the moment.
bool set_view::has_server_twice() const {
    const bool is_fenced = nodes_.set().is_fenced;
    if (is_fenced && count_members() > 0) return false;
    return std::ranges::any_of(nodes_.records(), [is_fenced](const node_record& each) {
        const bool is_unsuitable = !is_fenced && each.state == standing::unsuitable;
        return each.server->connected() && (each.is_second_name || is_unsuitable);
    });
}

bool set_view::can_be_read() const {
    std::size_t answers = 0, answers_of_members = 0;
    for (const auto& each : nodes_.records()) {
        if (!each.server->connected()) continue;
        const bool is_member = each.state == standing::member || each.state == standing::outdated;
        if (is_member || each.state == standing::forgetful) ++answers;
        if (is_member) ++answers_of_members;
    }
    return answers >= nodes_.majority() && answers_of_members > 0;
}

std::size_t set_view::least_views() const {
    const auto voters = count_voters();
    if (voters >= nodes_.majority()) return nodes_.majority();
    const auto unknown = nodes_.size() - voters;
    return unknown < nodes_.majority() ? nodes_.majority() - unknown : 1;
}

std::optional<time_point> set_view::quarantine_end() const {
    std::vector<time_point> ends;
    for (const auto& each : nodes_.records())
        if (each.is_member()) ends.push_back(each.quarantine_ends);
    if (ends.size() < nodes_.majority()) return std::nullopt;
    const auto last = ends.begin() + static_cast<std::ptrdiff_t>(nodes_.majority()) - 1;
    std::ranges::nth_element(ends, last);
    if (*last <= nodes_.now()) return std::nullopt;
    return *last;
}

bool set_view::is_lost() const {
    const auto forgetful = static_cast<std::size_t>(
        std::ranges::count(nodes_.records(), standing::forgetful, &node_record::state));
    return forgetful < nodes_.size() && nodes_.size() - forgetful < nodes_.majority();
}

// Only the first quarantine of a node has the first incarnation. An operator may have ended that of
// some nodes only.
bool set_view::is_new_set() const {
    const auto& records = nodes_.records();
    const auto is_first_member = [](const node_record& each) {
        return each.is_member() && each.member.incarnation == 1;
    };
    return std::ranges::all_of(records, is_first_member) &&
           std::ranges::any_of(records, [this](const node_record& each) {
               return each.quarantine_ends > nodes_.now();
           });
}

bool set_view::forms_no_set() const {
    const auto& records = nodes_.records();
    const auto member_count = static_cast<std::size_t>(
        std::ranges::count(records, standing::member, &node_record::state));
    return member_count < nodes_.majority() &&
           std::ranges::all_of(records, [](const node_record& each) {
               return each.server->connected() && each.state != standing::unknown &&
                      each.state != standing::unsuitable;
           });
}

bool set_view::may_be_new() const {
    return std::ranges::any_of(nodes_.records(), &node_record::is_forgetful) &&
           std::ranges::all_of(nodes_.records(), [](const node_record& each) {
               return each.is_forgetful() || each.state == standing::unknown;
           });
}

bool set_view::is_forgotten() const {
    return std::ranges::all_of(nodes_.records(), [](const node_record& each) {
        return each.state == standing::forgetful;
    });
}

bool set_view::is_away() const {
    const auto away = std::ranges::count_if(
        nodes_.records(), [](const node_record& each) { return !each.server->connected(); });
    return static_cast<std::size_t>(away) > nodes_.size() - nodes_.majority();
}

std::uint64_t set_view::latest_epoch(std::size_t node) const {
    member_mark latest;
    for (const auto& each : nodes_.records())
        if (each.is_member() && node < each.member.vector.size() &&
            each.member.vector[node].incarnation > latest.incarnation)
            latest = each.member.vector[node];
    return epoch_of(latest.nonce);
}

}  // namespace pawl::redlock
