// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Attempts that are made at the same time may split the nodes, so that none has a majority. Then
// the first of them by a total order keeps its nodes and asks the others again, and the others give
// theirs back. This class knows the holders that nodes have named in their refusals. It sends
// nothing and reads no clock. models/redlock/split.pml has the rules and their counterexamples.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redlock {

// The text with which a refusal names readers, whoever they are: they keep writers out together.
inline constexpr std::string_view readers_word = "readers";

// The part of an owner that all attempts of one try have in common, and by which tries are ordered.
// A smaller text comes first. Owners are random, so no client is always the first.
inline constexpr std::size_t rank_size = 16;
[[nodiscard]] std::string rank_of(std::string_view owner);

// Of one try, over all its attempts: how often it has given way to each other try. A try that has
// let another one pass several times without its success takes it for dead.
class precedence {
public:
    [[nodiscard]] bool respects(const std::string& rank) const {
        const auto given_way = given_way_.find(rank);
        return given_way == given_way_.end() || given_way->second < patience;
    }
    // A try that waits for days meets any number of others. Then it forgets them, and may give way
    // to a dead one again.
    void give_way_to(const std::string& rank) {
        if (given_way_.size() >= most_ranks && !given_way_.contains(rank)) given_way_.clear();
        ++given_way_[rank];
    }

private:
    static constexpr unsigned patience = 4;
    static constexpr std::size_t most_ranks = 256;
    std::map<std::string, unsigned> given_way_;
};

class contest {
public:
    contest(std::string_view owner, bool is_reader, std::size_t nodes)
        : rank_(rank_of(owner)), is_reader_(is_reader), refusals_(nodes) {}

    // The holder of each lock at a node that has refused; empty: that lock is free there.
    void count_refusal(std::size_t node, std::vector<std::string> holders) {
        refusals_[node] = std::move(holders);
    }
    // The node is asked again.
    void forget(std::size_t node) { refusals_[node].clear(); }

    // One holder has one of the locks at so many nodes.
    [[nodiscard]] bool is_held_at(std::size_t nodes) const { return most_of_one() >= nodes; }
    // The rank of the first holder, if it comes before this attempt. Only that one is given way
    // to: the others may do the same.
    [[nodiscard]] std::optional<std::string> first_rank(const precedence& known) const;
    // Of different holders, which may also be attempts.
    [[nodiscard]] std::size_t count_holders() const;

private:
    [[nodiscard]] std::size_t most_of_one() const;

    const std::string rank_;
    const bool is_reader_;
    std::vector<std::vector<std::string>> refusals_;  // of each node
};

}  // namespace pawl::redlock
