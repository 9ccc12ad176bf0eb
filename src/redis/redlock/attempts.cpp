// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "attempts.hpp"

#include "node_request.hpp"

#include "../common/waits.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// How long a majority with different counters waits for the other nodes: with them, the counters
// may agree, which saves a round trip.
constexpr auto answer_grace = 5ms;
// How long a client's place in a node's line lasts: longer than the pause between two attempts.
constexpr std::string_view place_ms = "10000";
// How long an attempt that cannot win waits at least for the nodes that have not answered.
constexpr auto shortest_judgement = 5ms;

}  // namespace

void attempts::send_to_node(const std::shared_ptr<attempt>& current, std::size_t node) {
    auto& state = current->node_states[node];
    if (!nodes_.may_vote(node)) {
        state.trouble = client_.membership.diagnosis().objection_of(node);
        state.trouble_reason = client_.membership.diagnosis().reason_of(node);
        return current->votes.count_refusal(node);
    }
    auto& undos = client_.undos.of(nodes_.link_of(node));
    if (undos.is_full()) {
        state.trouble = "too many earlier requests had no answer, and are still being undone";
        return current->votes.count_refusal(node);
    }
    const auto no_token = std::make_shared<const std::string>("0");
    state.undo.emplace(releases_.undo_of(current->locks, no_token, node), current->ttl);
    state.undo->about_to_send(undos);
    client_.tasks.spawn(ask_for_locks(current, node));
}

asio::awaitable<void> attempts::ask_for_locks(std::shared_ptr<attempt> current, std::size_t node) {
    const request_guard request(client_, node);
    // The attempt may be over. Then its undo may be on its way, and must not come first.
    if (current->decision != attempt::outcome::undecided) co_return;
    auto& state = current->node_states[node];
    try {
        const acquire_call call{.layout = *client_.layout,
                                .locks = *current->locks,
                                .ttl_ms = current->ttl_ms,
                                .client = current->client,
                                .place_ms = current->client.empty() ? "" : place_ms,
                                .floor = current->floor};
        const auto may_repeat = [&current] {
            return current->decision == attempt::outcome::undecided;
        };
        const auto asked_at = now();
        const auto reply = co_await ask_node(nodes_.link_of(node), call, current->give_up_at,
                                             may_repeat, &client_.known_scripts);
        timing_.on_answer(node);
        timing_.note_round_trip(node, now() - asked_at);
        if (reply.type == redis::reply::kind::error) {
            state.fail(redis::to_error(reply.text, nodes_.name_of(node)));
            if (redis::proves_no_change(reply.text) && state.undo)
                state.undo->set_state(redis::acquire_attempt::state::settled);
            current->votes.count_refusal(node);
        } else {
            auto answer = call.read(reply);
            handle_answer(current, node, std::move(answer));
            if (current->votes.has_fixed_tokens() && begin_confirmation(*current, node))
                co_await confirm_at(current, node);
            // The slowest node may be the one that was replaced.
            if (current->decision == attempt::outcome::granted &&
                !current->votes.outdated_nodes().empty())
                client_.membership.on_outdated();
        }
    } catch (const redis::connection_lost& e) {
        state.fail(e);
        current->votes.count_refusal(node);
    } catch (const error& e) {
        state.fail(e);
        current->votes.count_refusal(node);
        if (e.reason() == errc::unreachable && state.undo)
            state.undo->set_state(redis::acquire_attempt::state::settled);
    }
    current->changed.notify();
}

void attempts::handle_answer(const std::shared_ptr<attempt>& current, std::size_t node,
                             acquire_call::answer answer) {
    auto& state = current->node_states[node];
    if (answer.is_granted) {
        // It is given back already, by the undo behind this request.
        if (current->decision == attempt::outcome::abandoned) {
            state.is_given_back = true;
            return current->votes.count_refusal(node);
        }
        // The caller has its tokens: a later answer must not raise them.
        if (current->decision == attempt::outcome::granted) current->votes.fix_tokens();
        current->votes.count_grant(node, std::move(answer.member), std::move(answer.counters));
        return;
    }
    if (state.undo) state.undo->set_state(redis::acquire_attempt::state::settled);
    current->votes.count_refusal(node);
    if (answer.standing.refusal == objection::none) {
        state.is_held = true;
        state.left_ms = answer.left_ms;
        current->rivals.count_refusal(node, std::move(answer.holders));
    } else {
        client_.membership.on_objection(node, answer.standing);
        state.trouble = client_.membership.diagnosis().objection_of(node);
        state.trouble_reason = client_.membership.diagnosis().reason_of(node);
    }
}

// A node whose counter is above the token does not count. Its lock is deleted by the next renewal
// or by the release.
bool attempts::begin_confirmation(attempt& current, std::size_t node) {
    auto& votes = current.votes;
    if (!votes.has_granted(node) || votes.agrees(node)) return false;
    if (!votes.is_below_tokens(node)) {
        votes.count_loss(node);
        return false;
    }
    ++current.confirmations_in_flight;
    return true;
}

asio::awaitable<void> attempts::confirm_at(std::shared_ptr<attempt> current, std::size_t node) {
    struct end_guard {
        attempt& confirmed;
        ~end_guard() {
            --confirmed.confirmations_in_flight;
            confirmed.changed.notify();
        }
    };
    const end_guard guard{*current};
    auto& votes = current->votes;
    auto& trouble = current->node_states[node].trouble;
    confirm_call::answer answer;
    try {
        const confirm_call call(client_.set, *current->locks, votes.nonce(node),
                                votes.counters(node), votes.tokens());
        const auto reply = co_await ask_node(nodes_.link_of(node), call, current->give_up_at);
        redis::throw_if_error(reply, nodes_.name_of(node));
        answer = call.read(reply);
        client_.membership.on_objection(node, answer.standing);
        if (!answer.is_confirmed) trouble = "lost it again";
    } catch (const error& e) {
        trouble = e.what();
    }
    if (answer.is_confirmed)
        votes.count_confirmation(node, std::move(answer.member));
    else
        votes.count_loss(node);
}

void attempts::start_confirmations(const std::shared_ptr<attempt>& current) {
    current->votes.fix_tokens();
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (begin_confirmation(*current, i)) client_.tasks.spawn(confirm_at(current, i));
}

attempts::split_step attempts::next_step_of_split(const std::shared_ptr<attempt>& current,
                                                  const precedence& known) {
    const auto& votes = current->votes;
    std::size_t held = 0, granted = 0, missing = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        held += current->node_states[i].is_held ? 1 : 0;
        granted += votes.has_granted(i) ? 1 : 0;
        missing += votes.is_outstanding(i) && !timing_.is_silent(i) ? 1 : 0;
    }
    const bool is_stuck = votes.is_lost() || (missing == 0 && held > 0);
    if (granted >= nodes_.majority() || !is_stuck) return {};
    if (current->rivals.is_held_at(nodes_.majority())) {
        current->is_judged = true;
        return {.gives_up = true};
    }
    if (held + granted + missing < nodes_.majority()) return {.gives_up = votes.is_lost()};
    auto& split = current->split;
    if (!split.judged_at)
        split.judged_at = now() + std::max<duration>(now() - current->sent_at, shortest_judgement);
    if (missing > 0 && now() < *split.judged_at)
        return {.is_split = true, .wait_until = *split.judged_at};
    if (held + granted < nodes_.majority()) return {.gives_up = votes.is_lost()};
    current->first_rank = current->rivals.first_rank(known);
    if (current->first_rank || now() >= split.ends_at) {
        current->is_judged = true;
        return {.gives_up = true};
    }
    return {.is_split = true, .wait_until = ask_again(current)};
}

// When the refusing nodes are asked; that may be now.
time_point attempts::ask_again(const std::shared_ptr<attempt>& current) {
    auto& split = current->split;
    if (!split.asks_again_at) split.asks_again_at = now() + split.pauses.next_pause();
    if (now() < *split.asks_again_at) return *split.asks_again_at;
    split.asks_again_at.reset();
    split.judged_at.reset();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!current->node_states[i].is_held) continue;
        current->node_states[i].is_held = false;
        current->rivals.forget(i);
        current->votes.ask_again(i);
        send_to_node(current, i);
    }
    current->silent_from = now() + client_.node_timeout(current->ttl);
    return current->silent_from;
}

bool attempts::has_all_answers(const attempt& current) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (current.votes.is_outstanding(i) && !timing_.is_silent(i)) return false;
    return true;
}

// Waits until the attempt is granted or lost.
asio::awaitable<void> attempts::decide(std::shared_ptr<attempt> current, const precedence& known) {
    auto& votes = current->votes;
    const auto deadline = current->sent_at + current->ttl - drift(current->ttl);
    std::optional<time_point> grace_ends;
    while (now() < deadline && current->decision == attempt::outcome::undecided) {
        if (votes.is_won()) co_return current->keep();
        const bool has_ended = votes.has_fixed_tokens() && has_all_answers(*current) &&
                               current->confirmations_in_flight == 0;
        if (has_ended || now() >= current->answers_by()) break;
        auto wait_until = current->answers_by();
        const auto next = next_step_of_split(current, known);
        if (next.gives_up) break;
        if (next.is_split) {
            wait_until = std::min(current->answers_by(), next.wait_until);
        } else if (!votes.has_fixed_tokens() && votes.has_granted_majority()) {
            if (!grace_ends) grace_ends = now() + answer_grace;
            if (has_all_answers(*current) || now() >= *grace_ends) {
                start_confirmations(current);
                continue;
            }
            wait_until = std::min(wait_until, *grace_ends);
        }
        co_await current->changed.wait_until(wait_until);
    }
    current->abandon();
}

// An attempt that has failed learns whether somebody has the locks, or too few nodes can tell.
asio::awaitable<void> attempts::wait_for_reasons(std::shared_ptr<attempt> current) {
    const auto have_told = [&] {
        std::size_t count = 0;
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            if (current->node_states[i].has_told() || current->votes.has_granted(i)) ++count;
        return count >= nodes_.majority();
    };
    while (now() < current->answers_by() && !have_told() && !has_all_answers(*current))
        co_await current->changed.wait_until(current->answers_by());
}

asio::awaitable<attempt_result> attempts::try_all_nodes(std::vector<requested_lock> locks,
                                                        duration ttl, bool waits,
                                                        time_point ends_by,
                                                        const precedence& known) {
    const auto current =
        std::make_shared<attempt>(std::move(locks), ttl, nodes_.size(), client_.context);
    current->ttl_ms = redis::milliseconds_text(ttl);
    current->floor = std::to_string(client_.clocks.token_floor());
    if (waits) current->client = id_;
    // However this ends, what the nodes have granted is kept or given back.
    struct guard {
        guard(std::list<attempt*>& undecided, attempt& begun)
            : attempts(undecided), position(undecided.insert(undecided.end(), &begun)) {}
        ~guard() {
            (*position)->abandon();
            attempts.erase(position);
        }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;
        std::list<attempt*>& attempts;
        const std::list<attempt*>::iterator position;
    };
    const guard abandon_guard(undecided_, *current);
    current->sent_at = now();
    current->give_up_at = current->sent_at + std::max(ttl, client_.reply_timeout);
    current->ends_by = ends_by;
    current->silent_from = current->sent_at + client_.node_timeout(ttl);
    // The last answers must come in time.
    current->split.ends_at = std::min(current->sent_at + std::min(ttl / 3, client_.longest_try()),
                                      ends_by - 2 * timing_.round_trip_of_majority());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        send_to_node(current, i);
    co_await decide(current, known);
    if (current->decision != attempt::outcome::granted && !current->is_judged)
        co_await wait_for_reasons(current);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (current->votes.is_outstanding(i)) timing_.expect_answer(i, current->silent_from);
    if (!current->votes.outdated_nodes().empty()) client_.membership.on_outdated();
    if (current->decision == attempt::outcome::granted) start_confirmations(current);
    co_return attempt_results(nodes_, timing_).result_of(*current);
}

void attempts::abandon(std::string_view owner) {
    const auto start_of_value = std::string(owner) + ";";
    const auto is_of_owner = [&start_of_value](const requested_lock& each) {
        return each.value.starts_with(start_of_value);
    };
    for (auto* each : undecided_)
        if (std::ranges::any_of(*each->locks, is_of_owner)) {
            each->abandon();
            each->changed.notify();
        }
}

}  // namespace pawl::redlock
