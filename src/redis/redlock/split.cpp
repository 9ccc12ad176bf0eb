// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An attempt that has no majority because nodes have refused it. A refusal names the holder: the
// locks are taken if one holder has them at a majority. Otherwise attempts that were made at the
// same time have split the nodes. The first of them asks the refusing nodes again, and the others
// give back what they have. A refused request leaves nothing at its node, so a request that is
// repeated by the same attempt is, for the protocol, one that was slow.
#include "locks.hpp"

#include "node_failures.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// How long an attempt that cannot win waits at least for the nodes that have not answered.
constexpr auto shortest_judgement = 5ms;

}  // namespace

duration locks::longest_try() const noexcept {
    return std::min(options_.reply_timeout, context_.try_limit);
}

locks::split_step locks::next_step_of_split(const std::shared_ptr<attempt>& current,
                                            const precedence& known) {
    const auto& votes = current->votes;
    std::size_t held = 0, granted = 0, missing = 0;
    for (std::size_t i = 0; i < members_.nodes().size(); ++i) {
        held += current->node_states[i].is_held ? 1 : 0;
        granted += votes.has_granted(i) ? 1 : 0;
        missing += votes.is_outstanding(i) && !members_.timing().is_silent(i) ? 1 : 0;
    }
    const bool is_stuck = votes.is_lost() || (missing == 0 && held > 0);
    if (granted >= members_.nodes().majority() || !is_stuck) return {};
    if (current->rivals.is_held_at(members_.nodes().majority())) {
        current->is_judged = true;
        return {.gives_up = true};
    }
    if (held + granted + missing < members_.nodes().majority())
        return {.gives_up = votes.is_lost()};
    auto& split = current->split;
    if (!split.judged_at)
        split.judged_at = now() + std::max<duration>(now() - current->sent_at, shortest_judgement);
    if (missing > 0 && now() < *split.judged_at)
        return {.is_split = true, .wait_until = *split.judged_at};
    if (held + granted < members_.nodes().majority()) return {.gives_up = votes.is_lost()};
    current->first_rank = current->rivals.first_rank(known);
    if (current->first_rank || now() >= split.ends_at) {
        current->is_judged = true;
        return {.gives_up = true};
    }
    return {.is_split = true, .wait_until = ask_again(current)};
}

// When the refusing nodes are asked; that may be now.
time_point locks::ask_again(const std::shared_ptr<attempt>& current) {
    auto& split = current->split;
    if (!split.asks_again_at) split.asks_again_at = now() + split.pauses.next_pause();
    if (now() < *split.asks_again_at) return *split.asks_again_at;
    split.asks_again_at.reset();
    split.judged_at.reset();
    for (std::size_t i = 0; i < members_.nodes().size(); ++i) {
        if (!current->node_states[i].is_held) continue;
        current->node_states[i].is_held = false;
        current->rivals.forget(i);
        current->votes.ask_again(i);
        send_to_node(current, i);
    }
    current->silent_from = now() + node_timeout(current->ttl);
    return current->silent_from;
}

error locks::split_error(const attempt& current) const {
    return {errc::no_quorum, "Nobody is known to have the lock '" + current.locks->front().name +
                                 "': " + std::to_string(current.rivals.count_holders() + 1) +
                                 " attempts split the nodes, and none has " +
                                 std::to_string(members_.nodes().majority()) + " of them: " +
                                 grouped_text(members_.nodes().names(), answers_of(current)) +
                                 ". What was granted is given back; try again."};
}

}  // namespace pawl::redlock
