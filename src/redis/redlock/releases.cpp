// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "releases.hpp"

#include "node_request.hpp"

#include "../common/acquire_attempt.hpp"

#include "../../core/util/wakeup.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// How long a release waits for the last nodes, so that the next holder gets them, too.
constexpr auto release_grace = 2ms;

}  // namespace

// The release of one hold at all nodes. Requests without an answer outlive the call, and are
// repeated until their nodes answer, or the lease has ended.
struct releases::release_round {
    release_round(shared_locks lock, std::shared_ptr<const std::string> token_text,
                  std::size_t nodes, const backend_context& context)
        : locks(std::move(lock)),
          token(std::move(token_text)),
          undos(nodes),
          changed(*context.time, context.strand) {}

    const shared_locks locks;
    const std::shared_ptr<const std::string> token;
    time_point give_up_at{}, silent_until{};
    std::vector<std::optional<redis::acquire_attempt>> undos;
    std::map<node_release, std::size_t> counts{};
    [[nodiscard]] std::size_t count(node_release result) const {
        const auto counted = counts.find(result);
        return counted == counts.end() ? 0 : counted->second;
    }
    [[nodiscard]] std::size_t released() const { return count(node_release::released); }
    // Another attempt has, or had, the lock there.
    [[nodiscard]] std::size_t of_others() const {
        return count(node_release::taken_over) + count(node_release::overtaken);
    }
    [[nodiscard]] std::size_t answers() const {
        return released() + of_others() + count(node_release::gone);
    }
    core::wakeup changed;
};

redis::undo_queue::undo releases::undo_of(shared_locks requested,
                                          std::shared_ptr<const std::string> token,
                                          std::size_t node) {
    redis::undo_queue::undo undo;
    undo.lock = requested->front().keys.lock();
    undo.send = [this, requested = std::move(requested), token = std::move(token), node](
                    time_point deadline) { return send_release(requested, token, node, deadline); };
    return undo;
}

asio::awaitable<redis::reply> releases::send_release(shared_locks requested,
                                                     std::shared_ptr<const std::string> token,
                                                     std::size_t node, time_point give_up_at) {
    const release_call call{*client_.layout, *requested, *token};
    auto reply = co_await ask_node(nodes_.link_of(node), call, give_up_at);
    if (reply.type != redis::reply::kind::error) (void)call.read(reply);
    co_return reply;
}

asio::awaitable<void> releases::release_at(std::shared_ptr<release_round> round, std::size_t node) {
    const request_guard request(client_, node);
    try {
        const release_call call{*client_.layout, *round->locks, *round->token};
        const auto reply = co_await ask_node(nodes_.link_of(node), call, round->give_up_at);
        timing_.on_answer(node);
        if (reply.type != redis::reply::kind::error) {
            ++round->counts[call.read(reply).front()];
            round->undos[node]->set_state(redis::acquire_attempt::state::settled);
        }
    } catch (const error&) {}  // without an answer, the undo repeats the release
    round->undos[node].reset();
    round->changed.notify();
}

// Only silent nodes are missing. If they can still be a majority, they are perhaps only slower than
// the rest: they get the time that an acquire of this hold gives a node, whatever another request
// has found.
bool releases::is_decided(const release_round& round) const {
    const bool is_late = now() >= round.silent_until;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!round.undos[i]) continue;
        if (!is_late && !timing_.is_silent(i)) return false;
        ++missing;
    }
    const bool is_open =
        round.released() < nodes_.majority() && round.released() + missing >= nodes_.majority();
    return is_late || !is_open;
}

// All nodes are asked: also one that did not answer the acquire may have the lock.
asio::awaitable<release_result> releases::release(const hold& held, time_point give_up_at) {
    const bool was_in_time = now() < held.grant.deadline;
    auto locks_of_hold =
        std::make_shared<const std::vector<requested_lock>>(1, locks_.lock_of(held));
    const auto round = std::make_shared<release_round>(
        std::move(locks_of_hold),
        std::make_shared<const std::string>(std::to_string(held.grant.token.value())),
        nodes_.size(), client_.context);
    round->give_up_at = give_up_at;
    round->silent_until = now() + client_.node_timeout(held.claim.ttl);
    std::size_t connected = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        connected += nodes_.link_of(i).connected() ? 1 : 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        auto& server_link = nodes_.link_of(i);
        // The others release the lock, and the rest at this node ends with its lease: an outage
        // must not gather releases.
        const bool is_away = !server_link.connected() && connected >= nodes_.majority();
        if (is_away || client_.undos.of(server_link).is_full()) continue;
        round->undos[i].emplace(undo_of(round->locks, round->token, i), held.claim.ttl);
        round->undos[i]->about_to_send(client_.undos.of(server_link));
        timing_.expect_answer(i, round->silent_until);
        client_.tasks.spawn(release_at(round, i));
    }
    const auto majority = nodes_.majority();
    std::optional<time_point> grace_ends;
    bool was_blocked = false;
    while (round->answers() < nodes_.size()) {
        if (round->released() >= majority && !grace_ends) grace_ends = now() + release_grace;
        const auto until = std::min(round->give_up_at, grace_ends.value_or(round->give_up_at));
        if (now() >= until || is_decided(*round)) break;
        const auto next_step = std::min({until, timing_.next_silence(), round->silent_until});
        co_await round->changed.wait_until(next_step);
        // What arrived while the loop was blocked has not been read yet.
        if (now() > next_step + release_grace && !std::exchange(was_blocked, true))
            round->silent_until = std::max(round->silent_until, now() + release_grace);
    }
    // An answer to an earlier request may have come since.
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (round->undos[i]) timing_.expect_answer(i, round->silent_until);
    if (round->answers() < majority) co_return release_result::unknown;
    if (round->released() >= majority) co_return release_result::released;
    // The lease may have lost nodes, or have ended during this request, but it was the caller's
    // until the release, unless so many nodes can have granted the lock to another holder.
    const auto unanswered = nodes_.size() - round->answers();
    const bool had_no_successor =
        round->count(node_release::taken_over) == 0 && round->of_others() + unanswered < majority;
    if (round->released() > 0 && was_in_time) {
        if (had_no_successor) co_return release_result::released;
        // A minority may have the rest of an attempt, which proves no successor.
        if (round->of_others() < majority) co_return release_result::unknown;
    }
    co_return round->of_others() > 0 ? release_result::taken_over : release_result::expired;
}

}  // namespace pawl::redlock
