// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An attempt asks all nodes at the same time. The rules that decide it are in ballot.hpp.
#include "locks.hpp"

#include "node_failures.hpp"
#include "node_request.hpp"

#include "../transport/server_errors.hpp"

#include <algorithm>
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

}  // namespace

locks::attempt_result locks::result_of(const attempt& current) const {
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
    for (std::size_t i = 0; i < members_.nodes().size(); ++i) {
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
    if (answers < members_.nodes().majority()) {
        result.trouble = no_quorum_error(current);
        return result;
    }
    if (!current.rivals.is_held_at(members_.nodes().majority())) {
        // The nodes have granted the locks in vain: they do not agree, or one of them is outdated.
        if (current.rivals.count_holders() == 0) {
            result.trouble = no_quorum_error(current);
            return result;
        }
        result.split = split_error(current);
    }
    result.took = now() - current.sent_at;
    result.first_rank = current.first_rank;
    if (free_times.size() >= members_.nodes().majority()) {
        const auto last =
            free_times.begin() + static_cast<std::ptrdiff_t>(members_.nodes().majority()) - 1;
        std::ranges::nth_element(free_times, last);
        result.free_at = *last;
    }
    return result;
}

std::vector<std::string> locks::answers_of(const attempt& current) const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < members_.nodes().size(); ++i) {
        const auto& state = current.node_states[i];
        if (current.votes.has_granted(i) || state.is_given_back)
            texts.emplace_back("granted it");
        else if (state.is_held)
            texts.emplace_back("has it held by another client");
        else if (state.trouble.empty())
            texts.emplace_back("had not answered yet");
        else
            texts.push_back(without_name(state.trouble, members_.nodes().name_of(i)));
    }
    return texts;
}

error locks::no_quorum_error(const attempt& current) const {
    node_failures failures(members_.nodes().size());
    for (std::size_t i = 0; i < members_.nodes().size(); ++i) {
        const auto& state = current.node_states[i];
        if (!state.trouble.empty()) failures.add(i, error(state.trouble_reason, state.trouble));
    }
    const auto reason = failures.lasting_reason();
    const auto needed_ttl = 6 * members_.timing().round_trip_of_majority();
    std::string advice = "; try again later.";
    if (needed_ttl > current.ttl)
        advice = ". A majority of the nodes answers only after " +
                 redis::milliseconds_text(members_.timing().round_trip_of_majority()) +
                 " ms; use a ttl of at least " +
                 std::to_string(std::chrono::ceil<std::chrono::seconds>(needed_ttl).count()) +
                 " s.";
    return {reason.value_or(errc::no_quorum),
            "The lock '" + current.locks->front().name + "' needs " +
                std::to_string(members_.nodes().majority()) + " of " +
                std::to_string(members_.nodes().size()) +
                " nodes: " + grouped_text(members_.nodes().names(), answers_of(current)) +
                (reason ? "." : ". What was granted is given back" + advice)};
}

void locks::send_to_node(const std::shared_ptr<attempt>& current, std::size_t node) {
    auto& state = current->node_states[node];
    if (!members_.nodes().may_vote(node)) {
        state.trouble = members_.diagnosis().objection_of(node);
        state.trouble_reason = members_.diagnosis().reason_of(node);
        return current->votes.count_refusal(node);
    }
    auto& undos = undos_.of(members_.nodes().link_of(node));
    if (undos.is_full()) {
        state.trouble = "too many earlier requests had no answer, and are still being undone";
        return current->votes.count_refusal(node);
    }
    const auto no_token = std::make_shared<const std::string>("0");
    state.undo.emplace(undo_of(current->locks, no_token, node), current->ttl);
    state.undo->about_to_send(undos);
    spawn(ask_for_locks(current, node));
}

asio::awaitable<void> locks::ask_for_locks(std::shared_ptr<attempt> current, std::size_t node) {
    const request_guard request(*this, node);
    // The attempt may be over. Then its undo may be on its way, and must not come first.
    if (current->decision != attempt::outcome::undecided) co_return;
    auto& state = current->node_states[node];
    try {
        const acquire_call call{.set = set_,
                                .locks = *current->locks,
                                .ttl_ms = current->ttl_ms,
                                .client = current->client,
                                .place_ms = current->client.empty() ? "" : place_ms,
                                .floor = current->floor};
        const auto may_repeat = [&current] {
            return current->decision == attempt::outcome::undecided;
        };
        const auto asked_at = now();
        const auto reply = co_await ask_node(members_.nodes().link_of(node), call,
                                             current->give_up_at, may_repeat, &known_scripts_);
        members_.timing().on_answer(node);
        members_.timing().note_round_trip(node, now() - asked_at);
        if (reply.type == redis::reply::kind::error) {
            state.fail(redis::to_error(reply.text, members_.nodes().name_of(node)));
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
                members_.on_outdated();
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

void locks::handle_answer(const std::shared_ptr<attempt>& current, std::size_t node,
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
        members_.on_objection(node, answer.standing);
        state.trouble = members_.diagnosis().objection_of(node);
        state.trouble_reason = members_.diagnosis().reason_of(node);
    }
}

// A node whose counter is above the token does not count. Its lock is deleted by the next renewal
// or by the release.
bool locks::begin_confirmation(attempt& current, std::size_t node) {
    auto& votes = current.votes;
    if (!votes.has_granted(node) || votes.agrees(node)) return false;
    if (!votes.is_below_tokens(node)) {
        votes.count_loss(node);
        return false;
    }
    ++current.confirmations_in_flight;
    return true;
}

asio::awaitable<void> locks::confirm_at(std::shared_ptr<attempt> current, std::size_t node) {
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
        const confirm_call call(set_, *current->locks, votes.nonce(node), votes.counters(node),
                                votes.tokens());
        const auto reply =
            co_await ask_node(members_.nodes().link_of(node), call, current->give_up_at);
        redis::throw_if_error(reply, members_.nodes().name_of(node));
        answer = call.read(reply);
        members_.on_objection(node, answer.standing);
        if (!answer.is_confirmed) trouble = "lost it again";
    } catch (const error& e) {
        trouble = e.what();
    }
    if (answer.is_confirmed)
        votes.count_confirmation(node, std::move(answer.member));
    else
        votes.count_loss(node);
}

void locks::start_confirmations(const std::shared_ptr<attempt>& current) {
    current->votes.fix_tokens();
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        if (begin_confirmation(*current, i)) spawn(confirm_at(current, i));
}

bool locks::has_all_answers(const attempt& current) const {
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        if (current.votes.is_outstanding(i) && !members_.timing().is_silent(i)) return false;
    return true;
}

// Waits until the attempt is granted or lost.
asio::awaitable<void> locks::decide(std::shared_ptr<attempt> current, const precedence& known) {
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
asio::awaitable<void> locks::wait_for_reasons(std::shared_ptr<attempt> current) {
    const auto have_told = [&] {
        std::size_t count = 0;
        for (std::size_t i = 0; i < members_.nodes().size(); ++i)
            if (current->node_states[i].has_told() || current->votes.has_granted(i)) ++count;
        return count >= members_.nodes().majority();
    };
    while (now() < current->answers_by() && !have_told() && !has_all_answers(*current))
        co_await current->changed.wait_until(current->answers_by());
}

asio::awaitable<locks::attempt_result> locks::try_all_nodes(std::vector<requested_lock> requested,
                                                            duration ttl, bool waits,
                                                            time_point ends_by,
                                                            const precedence& known) {
    const auto current =
        std::make_shared<attempt>(std::move(requested), ttl, members_.nodes().size(), context_);
    current->ttl_ms = redis::milliseconds_text(ttl);
    current->floor = std::to_string(members_.clocks().token_floor());
    if (waits) current->client = client_;
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
    const guard abandon_guard(attempts_, *current);
    current->sent_at = now();
    current->give_up_at = current->sent_at + std::max(ttl, options_.reply_timeout);
    current->ends_by = ends_by;
    current->silent_from = current->sent_at + node_timeout(ttl);
    // The last answers must come in time.
    current->split.ends_at = std::min(current->sent_at + std::min(ttl / 3, longest_try()),
                                      ends_by - 2 * members_.timing().round_trip_of_majority());
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        send_to_node(current, i);
    co_await decide(current, known);
    if (current->decision != attempt::outcome::granted && !current->is_judged)
        co_await wait_for_reasons(current);
    for (std::size_t i = 0; i < members_.nodes().size(); ++i)
        if (current->votes.is_outstanding(i))
            members_.timing().expect_answer(i, current->silent_from);
    if (!current->votes.outdated_nodes().empty()) members_.on_outdated();
    if (current->decision == attempt::outcome::granted) start_confirmations(current);
    co_return result_of(*current);
}

}  // namespace pawl::redlock
