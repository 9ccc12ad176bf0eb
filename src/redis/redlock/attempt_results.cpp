// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "attempt_results.hpp"

#include "node_failures.hpp"

#include "../common/waits.hpp"
#include "../transport/numbers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pawl::redlock {

attempt_result attempt_results::result_of(const attempt& current) const {
    attempt_result result;
    // A place that a node gives later ends by itself.
    result.is_in_line = std::ranges::any_of(current.node_states, &attempt::node_state::is_held);
    if (current.decision == attempt::outcome::granted) {
        const auto& tokens = current.votes.tokens();
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            grant granted;
            granted.deadline = current.sent_at + current.ttl - drift(current.ttl);
            granted.token = fencing_token(static_cast<std::uint64_t>(tokens[i]));
            granted.stored_value = (*current.locks)[i].value;
            result.grants.push_back(std::move(granted));
        }
        return result;
    }
    std::size_t answers = 0;
    std::vector<time_point> free_times;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& state = current.node_states[i];
        if (current.votes.has_granted(i) || state.is_given_back) {
            ++answers;
            free_times.push_back(now());
        } else if (state.is_held) {
            ++answers;
            if (state.left_ms >= 0)
                free_times.push_back(now() + redis::milliseconds_of(state.left_ms));
        }
    }
    if (answers < nodes_.majority()) {
        result.trouble = no_quorum_error(current);
        return result;
    }
    if (!current.rivals.is_held_at(nodes_.majority())) {
        // The nodes have granted the locks in vain: they do not agree, or one of them is outdated.
        if (current.rivals.count_holders() == 0) {
            result.trouble = no_quorum_error(current);
            return result;
        }
        result.split = split_error(current);
    }
    result.took = now() - current.sent_at;
    result.first_rank = current.first_rank;
    if (free_times.size() >= nodes_.majority()) {
        const auto last = free_times.begin() + static_cast<std::ptrdiff_t>(nodes_.majority()) - 1;
        std::ranges::nth_element(free_times, last);
        result.free_at = *last;
    }
    return result;
}

std::vector<std::string> attempt_results::answers_of(const attempt& current) const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& state = current.node_states[i];
        if (current.votes.has_granted(i) || state.is_given_back)
            texts.emplace_back("granted it");
        else if (state.is_held)
            texts.emplace_back("has it held by another client");
        else if (state.trouble.empty())
            texts.emplace_back("had not answered yet");
        else
            texts.push_back(without_name(state.trouble, nodes_.name_of(i)));
    }
    return texts;
}

error attempt_results::split_error(const attempt& current) const {
    return {errc::no_quorum, "Nobody is known to have the lock '" + current.locks->front().name +
                                 "': " + std::to_string(current.rivals.count_holders() + 1) +
                                 " attempts split the nodes, and none has " +
                                 std::to_string(nodes_.majority()) +
                                 " of them: " + grouped_text(nodes_.names(), answers_of(current)) +
                                 ". What was granted is given back; try again."};
}

error attempt_results::no_quorum_error(const attempt& current) const {
    node_failures failures(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto& state = current.node_states[i];
        if (!state.trouble.empty()) failures.add(i, error(state.trouble_reason, state.trouble));
    }
    const auto reason = failures.lasting_reason();
    const auto needed_ttl = 6 * timing_.round_trip_of_majority();
    std::string advice = "; try again later.";
    if (needed_ttl > current.ttl)
        advice = ". A majority of the nodes answers only after " +
                 redis::milliseconds_text(timing_.round_trip_of_majority()) +
                 " ms; use a ttl of at least " +
                 std::to_string(std::chrono::ceil<std::chrono::seconds>(needed_ttl).count()) +
                 " s.";
    return {reason.value_or(errc::no_quorum),
            "The lock '" + current.locks->front().name + "' needs " +
                std::to_string(nodes_.majority()) + " of " + std::to_string(nodes_.size()) +
                " nodes: " + grouped_text(nodes_.names(), answers_of(current)) +
                (reason ? "." : ". What was granted is given back" + advice)};
}

}  // namespace pawl::redlock
