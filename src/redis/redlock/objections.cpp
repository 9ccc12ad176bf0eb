// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Why nodes do not vote, and what that means for the set, in words.
#include "members.hpp"

#include "node_failures.hpp"

#include <pawl/redlock.hpp>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace pawl::redlock {
namespace {

std::string seconds_text(duration time_span) {
    return std::to_string(std::max<std::int64_t>(
               1, std::chrono::ceil<std::chrono::seconds>(time_span).count())) +
           " s";
}

// In ms, of a set's URL, which leaves the default out.
std::string ttl_max_of(std::string_view url) {
    constexpr std::string_view option = "ttl_max=";
    const auto begin = url.find(option);
    if (begin == std::string_view::npos)
        return std::to_string(options().ttl_max / std::chrono::milliseconds(1));
    const auto digits = url.substr(begin + option.size());
    return std::string(digits.substr(0, digits.find_first_not_of("0123456789")));
}

}  // namespace

std::string members::objection_of(std::size_t node) const {
    const auto& asked = nodes_[node];
    const auto trouble =
        asked.trouble.empty() ? "has not answered yet" : without_name(asked.trouble, name_of(node));
    if (!asked.server->connected()) {
        const auto failure = asked.server->connection_failure();
        return failure.empty() ? trouble : without_name(failure, name_of(node));
    }
    switch (asked.state) {
    case standing::unknown: return trouble;
    case standing::forgetful: return "has lost its data, or is new, and waits to join the set";
    case standing::other_set:
        return "belongs to another set, " +
               (asked.other_nodes.empty()
                    ? "perhaps one of an earlier version of Pawl"
                    : asked.other_nodes + " with ttl_max=" + ttl_max_of(asked.other_nodes)) +
               ": all clients must name the same nodes in the same way, with the same ttl_max; "
               "this one has " +
               ttl_max_of(set_.nodes);
    case standing::outdated:
        return "another server has joined the set under this name, or this one has got older data "
               "back; two servers must never answer to one name";
    case standing::unsuitable: return asked.trouble;
    case standing::member: break;
    }
    if (asked.quarantine_ends > now())
        return "has joined the set lately, and votes in " +
               seconds_text(asked.quarantine_ends - now()) +
               ", because a hold that it does not know may last until then";
    return {};
}

std::vector<std::string> members::names() const {
    std::vector<std::string> result;
    for (const auto& each : nodes_)
        result.push_back(each.name);
    return result;
}

std::string members::objections() const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < size(); ++i)
        texts.push_back(objection_of(i));
    return grouped_text(names(), texts);
}

bool members::is_lost() const {
    const auto forgetful = static_cast<std::size_t>(
        std::ranges::count(nodes_, standing::forgetful, &node_record::state));
    return forgetful < size() && size() - forgetful < majority();
}

// Another client may have let a node join since the last repair.
std::string members::repair_trouble() const {
    return repair_trouble_ == lost_set && !is_lost() ? std::string(few_members) : repair_trouble_;
}

std::string members::trouble_of_set() const {
    const bool is_new = std::ranges::all_of(
        nodes_, [](const node_record& each) { return each.state == standing::forgetful; });
    // The last repair may have come before some of the nodes.
    if (is_new && !may_begin_set_) return std::string(no_set);
    if (!repair_trouble_.empty()) return repair_trouble();
    if (is_lost()) return std::string(lost_set);
    return is_new ? std::string(no_set) : std::string();
}

std::optional<time_point> members::quarantine_end() const {
    std::vector<time_point> ends;
    for (std::size_t i = 0; i < size(); ++i)
        if (nodes_[i].server->connected() && nodes_[i].state == standing::member)
            ends.push_back(nodes_[i].quarantine_ends);
    if (ends.size() < majority()) return std::nullopt;
    const auto last = ends.begin() + static_cast<std::ptrdiff_t>(majority()) - 1;
    std::ranges::nth_element(ends, last);
    if (*last <= now()) return std::nullopt;
    return *last;
}

std::optional<errc> members::lasting_reason() const {
    node_failures failures(size());
    for (std::size_t i = 0; i < size(); ++i) {
        const auto& each = nodes_[i];
        if (!each.server->connected() && !each.trouble.empty())
            failures.add(i, error(each.trouble_reason, each.trouble));
        if (each.server->connected() && each.state == standing::other_set)
            failures.add(i, error(errc::other_set, objection_of(i)));
    }
    return failures.lasting_reason();
}

errc members::reason_of(std::size_t node) const noexcept {
    return nodes_[node].server->connected() && nodes_[node].state == standing::other_set
               ? errc::other_set
               : errc::no_quorum;
}

bool members::is_new_set() const {
    return std::ranges::all_of(nodes_, [this](const node_record& each) {
        return each.server->connected() && each.state == standing::member &&
               each.member.incarnation == 1 && each.quarantine_ends > now();
    });
}

bool members::forms_no_set() const {
    const auto member_count =
        static_cast<std::size_t>(std::ranges::count(nodes_, standing::member, &node_record::state));
    return member_count < majority() && std::ranges::all_of(nodes_, [](const node_record& each) {
               return each.server->connected() && each.state != standing::unknown &&
                      each.state != standing::unsuitable;
           });
}

// No node that has answered is a member of a set, but not all have answered.
bool members::may_be_new() const {
    return std::ranges::any_of(nodes_, &node_record::is_forgetful) &&
           std::ranges::all_of(nodes_, [](const node_record& each) {
               return each.is_forgetful() || each.state == standing::unknown;
           });
}

error members::no_majority() const {
    const auto reason = forms_no_set() || is_new_set() ? errc::no_set : errc::no_quorum;
    auto text = "Fewer than " + std::to_string(majority()) + " of the " + std::to_string(size()) +
                " nodes can vote: " + objections();
    auto trouble = may_begin_set_ ? repair_trouble() : trouble_of_set();
    if (is_new_set()) trouble = new_set;
    if (trouble.empty() && may_be_new()) trouble = perhaps_new;
    const auto away = std::ranges::count_if(
        nodes_, [](const node_record& each) { return !each.server->connected(); });
    const bool is_away = static_cast<std::size_t>(away) > size() - majority();
    if (trouble.empty() && is_away && !lasting_reason())
        trouble = "check that the servers run there and the URL is right";
    if (!trouble.empty()) text += "; " + trouble;
    if (has_server_twice()) return {errc::bad_option, text + "."};
    return {lasting_reason().value_or(reason), text + "."};
}

}  // namespace pawl::redlock
