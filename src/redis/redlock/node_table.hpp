// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The nodes of a set, and what each of them has said of its membership. Sends nothing.
#pragma once

#include "core/util/spi.hpp"
#include "member_calls.hpp"

#include "../transport/link.hpp"

#include <pawl/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pawl::redlock {

enum class standing : std::uint8_t {
    unknown,     // not connected, or not asked yet
    member,      // votes, perhaps after a quarantine
    outdated,    // a member, but another member has heard of a later memory of the node
    forgetful,   // has no membership
    other_set,   // a member of another set
    unsuitable,  // must not be in a set: `trouble` says why
};

struct node_record {
    redis::link* server = nullptr;
    std::string name;  // in messages
    standing state = standing::unknown;
    time_point quarantine_ends{};
    membership_state member{};                // what it said last
    std::int64_t highest = 0;                 // the highest token that it knows
    std::string other_nodes{};                // of another set that it belongs to, as a URL
    std::string trouble{};                    // why the last request or connection failed
    errc trouble_reason = errc::unreachable;  // of a failed connection
    bool is_second_name = false;              // of another node's server

    // It has lost its data, or must join anew.
    [[nodiscard]] bool needs_repair() const noexcept {
        return server->connected() && (state == standing::forgetful || state == standing::outdated);
    }
    [[nodiscard]] bool is_forgetful() const noexcept {
        return server->connected() && state == standing::forgetful;
    }
    [[nodiscard]] bool is_member() const noexcept {
        return server->connected() && state == standing::member;
    }
};

// Used on one strand. The links, the set and the time must outlive it.
class node_table {
public:
    node_table(const std::vector<redis::link*>& nodes, std::vector<std::string> names,
               const set_parameters& set, const runtime& time);

    [[nodiscard]] const set_parameters& set() const noexcept { return set_; }
    [[nodiscard]] time_point now() const noexcept { return time_.now(); }
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] std::size_t majority() const noexcept { return majority_of(size()); }
    [[nodiscard]] const node_record& operator[](std::size_t node) const noexcept {
        return nodes_[node];
    }
    // All of them, in their order.
    [[nodiscard]] const std::vector<node_record>& records() const noexcept { return nodes_; }
    [[nodiscard]] redis::link& link_of(std::size_t node) const noexcept {
        return *nodes_[node].server;
    }
    [[nodiscard]] const std::string& name_of(std::size_t node) const noexcept {
        return nodes_[node].name;
    }
    [[nodiscard]] std::vector<std::string> names() const;
    // `size()` if it is the link of no node.
    [[nodiscard]] std::size_t index_of(const redis::link& node_link) const noexcept;

    // The node is connected, and nothing is known that keeps it from voting.
    [[nodiscard]] bool may_vote(std::size_t node) const;
    // The report of a member of this set.
    [[nodiscard]] bool is_member(const std::optional<member_report>& report) const;
    // Another connected node with the same run of a server.
    [[nodiscard]] std::optional<std::size_t> node_with_same_server(std::size_t node) const;

    // Nothing is known about its new connection, or its next one.
    void forget_standing(std::size_t node) noexcept;
    // Takes over what a node has said, and finds out which members are outdated.
    void adopt(std::size_t node, const member_report& report);
    // The same without a membership: with classic Redlock a node votes as soon as it is connected.
    void adopt_without_membership(std::size_t node);
    // A node has refused to vote.
    void note_refusal(std::size_t node, const standing_reply& refusal);
    void note_trouble(std::size_t node, std::string trouble) {
        nodes_[node].trouble = std::move(trouble);
    }
    void note_failed_connection(std::size_t node, const error& failure);

private:
    void judge_members();
    // Why the server must not be in a set; empty if it may be.
    [[nodiscard]] std::string objection_to_server(std::size_t node) const;

    std::vector<node_record> nodes_;
    const set_parameters& set_;
    const runtime& time_;
};

}  // namespace pawl::redlock
