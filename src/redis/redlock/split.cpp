// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An attempt that has no majority because nodes have refused it. A refusal names the holder: the
// locks are taken if one holder has them at a majority. Otherwise attempts that were made at the
// same time have split the nodes. The first of them asks the refusing nodes again, and the others
// give back what they have. A refused request leaves nothing at its node, so a request that is
// repeated by the same attempt is, for the protocol, one that was slow.
#include "locks.hpp"

#include "node_failures.hpp"

#include "../../core/util/random.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// How long an attempt that cannot win waits at least for the nodes that have not answered.
constexpr auto shortest_judgement = 5ms;
// The pause before the refusing nodes are asked again; it doubles with each time.
constexpr duration first_pause = 2ms, longest_pause = 100ms;

}  // namespace

duration locks::longest_try() const noexcept {
    return std::min(options_.reply_timeout, context_.try_limit);
}

locks::split_step locks::next_step_of_split(const std::shared_ptr<attempt>& current,
                                            const precedence& known) {
    const auto& votes = current->votes;
    std::size_t held = 0, granted = 0, missing = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        held += current->node_states[i].is_held ? 1 : 0;
        granted += votes.has_granted(i) ? 1 : 0;
        missing += votes.is_outstanding(i) && !members_.is_silent(i) ? 1 : 0;
    }
    const bool is_stuck = votes.is_lost() || (missing == 0 && held > 0);
    if (granted >= members_.majority() || !is_stuck) return {};
    if (current->rivals.is_held_at(members_.majority())) {
        current->is_judged = true;
        return {.gives_up = true};
    }
    if (held + granted + missing < members_.majority()) return {.gives_up = votes.is_lost()};
    if (!current->judged_at)
        current->judged_at =
            now() + std::max<duration>(now() - current->sent_at, shortest_judgement);
    if (missing > 0 && now() < *current->judged_at)
        return {.is_split = true, .wait_until = *current->judged_at};
    if (held + granted < members_.majority()) return {.gives_up = votes.is_lost()};
    current->first_rank = current->rivals.first_rank(known);
    if (current->first_rank || now() >= current->contends_until) {
        current->is_judged = true;
        return {.gives_up = true};
    }
    return {.is_split = true, .wait_until = ask_again(current)};
}

// When the refusing nodes are asked; that may be now.
time_point locks::ask_again(const std::shared_ptr<attempt>& current) {
    if (!current->asks_again_at) {
        const auto pause = current->next_pause.value_or(first_pause);
        current->next_pause = std::min(2 * pause, longest_pause);
        current->asks_again_at = now() + core::random_between(time(), pause / 2, pause);
    }
    if (now() < *current->asks_again_at) return *current->asks_again_at;
    current->asks_again_at.reset();
    current->judged_at.reset();
    for (std::size_t i = 0; i < members_.size(); ++i) {
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
    return {errc::no_quorum,
            "Nobody is known to have the lock '" + current.locks->front().name +
                "': " + std::to_string(current.rivals.count_holders() + 1) +
                " attempts split the nodes, and none has " + std::to_string(members_.majority()) +
                " of them: " + grouped_text(members_.names(), answers_of(current)) +
                ". What was granted is given back; try again."};
}

}  // namespace pawl::redlock
