// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "set_diagnosis.hpp"

#include "node_failures.hpp"

#include <pawl/redlock.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace pawl::redlock {
namespace {

constexpr std::string_view perhaps_new =
    "if the nodes are new, and no holder of a lock of them is left, pawl redlock init makes them a "
    "set";
constexpr std::string_view new_set =
    "the set is new; if no holder of a lock of these nodes is left, pawl redlock init ends the "
    "wait";

std::string seconds_text(duration time_span) {
    return std::to_string(std::max<std::int64_t>(
               1, std::chrono::ceil<std::chrono::seconds>(time_span).count())) +
           " s";
}

constexpr std::string_view ttl_max_option = "ttl_max=";

// In ms, of a set's URL, which leaves the default out.
std::string ttl_max_of(std::string_view url) {
    const auto begin = url.find(ttl_max_option);
    if (begin == std::string_view::npos)
        return std::to_string(options().ttl_max / std::chrono::milliseconds(1));
    const auto digits = url.substr(begin + ttl_max_option.size());
    return std::string(digits.substr(0, digits.find_first_not_of("0123456789")));
}

}  // namespace

std::string with_ttl_max(std::string url) {
    if (url.find(ttl_max_option) != std::string::npos) return url;
    return url + " with " + std::string(ttl_max_option) + ttl_max_of(url);
}

std::string set_diagnosis::objection_of(std::size_t node) const {
    const auto& asked = nodes_[node];
    const auto trouble = asked.trouble.empty() ? "has not answered yet"
                                               : without_name(asked.trouble, nodes_.name_of(node));
    if (!asked.server->connected()) {
        const auto failure = asked.server->connection_failure();
        return failure.empty() ? trouble : without_name(failure, nodes_.name_of(node));
    }
    switch (asked.state) {
    case standing::unknown: return trouble;
    case standing::forgetful: return "has lost its data, or is new, and waits to join the set";
    case standing::other_set:
        return "belongs to another set, " +
               (asked.other_nodes.empty() ? "perhaps one of an earlier version of Pawl"
                                          : with_ttl_max(asked.other_nodes)) +
               ": all clients must name the same nodes in the same way, with the same ttl_max; "
               "this client has ttl_max=" +
               ttl_max_of(nodes_.set().nodes);
    case standing::outdated:
        return "another server has joined the set under this name, or this one has got older data "
               "back; two servers must never answer to one name";
    case standing::unsuitable: return asked.trouble;
    case standing::member: break;
    }
    if (asked.quarantine_ends > nodes_.now())
        return "has joined the set lately, and votes in " +
               seconds_text(asked.quarantine_ends - nodes_.now()) +
               ", because a hold that it does not know may last until then";
    return {};
}

errc set_diagnosis::reason_of(std::size_t node) const noexcept {
    return nodes_[node].server->connected() && nodes_[node].state == standing::other_set
               ? errc::other_set
               : errc::no_quorum;
}

std::string set_diagnosis::objections() const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        texts.push_back(objection_of(i));
    return grouped_text(nodes_.names(), texts);
}

// Another client may have let a node join since the last repair.
std::string set_diagnosis::repair_trouble() const {
    return notes_.trouble == lost_set && !view_.is_lost() ? std::string(few_members)
                                                          : notes_.trouble;
}

std::string set_diagnosis::trouble_of_set() const {
    const bool is_new = view_.is_forgotten();
    // The last repair may have come before some of the nodes.
    if (is_new && !notes_.may_begin_set) return std::string(no_set);
    if (!notes_.trouble.empty()) return repair_trouble();
    if (view_.is_lost()) return std::string(lost_set);
    return is_new ? std::string(no_set) : std::string();
}

std::optional<errc> set_diagnosis::lasting_reason() const {
    node_failures failures(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& each = nodes_[i];
        if (!each.server->connected() && !each.trouble.empty())
            failures.add(i, error(each.trouble_reason, each.trouble));
        if (each.server->connected() && each.state == standing::other_set)
            failures.add(i, error(errc::other_set, objection_of(i)));
    }
    return failures.lasting_reason();
}

error set_diagnosis::no_majority() const {
    const auto reason = view_.forms_no_set() || view_.is_new_set() ? errc::no_set : errc::no_quorum;
    auto text = "Fewer than " + std::to_string(nodes_.majority()) + " of the " +
                std::to_string(nodes_.size()) + " nodes can vote: " + objections();
    auto trouble = notes_.may_begin_set ? repair_trouble() : trouble_of_set();
    if (view_.is_new_set()) trouble = new_set;
    if (trouble.empty() && view_.may_be_new()) trouble = perhaps_new;
    if (trouble.empty() && view_.is_away() && !lasting_reason())
        trouble = "check that the servers run there and the URL is right";
    if (!trouble.empty()) text += "; " + trouble;
    if (view_.has_server_twice()) return {errc::bad_option, text + "."};
    return {lasting_reason().value_or(reason), text + "."};
}

}  // namespace pawl::redlock
