// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "renewals.hpp"

#include "node_request.hpp"
#include "renewal_tally.hpp"

#include "../transport/numbers.hpp"

#include "../../core/util/back_off.hpp"
#include "../../core/util/wakeup.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {

namespace {

// Of the shortest ttl: the pauses before a node is asked again that has not answered.
constexpr auto first_pause_share = 40, longest_pause_share = 10;
// While a node is silent, no more renewals than these wait for its answer.
constexpr std::size_t most_unanswered_renewals = 8;

}  // namespace

// The renewals of one call, for holds of one mode. The requests share it, and may outlive the call.
// A node is asked until it has extended each hold, or the hold is settled without it. An answer
// counts as long as it comes before the deadline that it extends.
struct renewals::renewal_round {
    struct entry {
        std::size_t index;  // into the batch
        requested_lock lock;
        fencing_token token;
        duration ttl;
        time_point deadline;  // an answer after it does not count
        renewal_tally tally;
        bool is_released = false;
    };
    renewal_round(renewal_batch& renewals_of_call, std::size_t nodes,
                  const backend_context& context)
        : batch(&renewals_of_call), is_asked(nodes), changed(*context.time, context.strand) {}

    // A request that has no answer yet.
    class request_mark {
    public:
        request_mark(renewal_round& round, std::size_t node, std::size_t& unanswered) noexcept
            : round_(round), node_(node), unanswered_(unanswered) {
            round_.is_asked[node_] = true;
            ++unanswered_;
        }
        ~request_mark() {
            --unanswered_;
            round_.is_asked[node_] = false;
            round_.changed.notify();
        }
        request_mark(const request_mark&) = delete;
        request_mark& operator=(const request_mark&) = delete;

    private:
        renewal_round& round_;
        const std::size_t node_;
        std::size_t& unanswered_;
    };

    renewal_batch* batch;  // null: the call has ended
    std::vector<entry> entries{};
    duration shortest_ttl = duration::max();
    std::vector<bool> is_asked;  // of each node: a request has no answer yet
    core::wakeup changed;

    [[nodiscard]] bool is_open(const entry& each, time_point now) const {
        return batch != nullptr && !each.is_released && now < each.deadline &&
               !batch->renewals()[each.index].is_settled;
    }
    // Nothing if no answer matters any more.
    [[nodiscard]] std::optional<time_point> open_until(time_point now) const {
        std::optional<time_point> result;
        for (const auto& each : entries)
            if (is_open(each, now))
                result = std::max(result.value_or(each.deadline), each.deadline);
        return result;
    }
    [[nodiscard]] std::vector<std::size_t> positions_for(std::size_t node, time_point now) const {
        std::vector<std::size_t> result;
        for (std::size_t i = 0; i < entries.size(); ++i)
            if (is_open(entries[i], now) && !entries[i].tally.has_extended(node))
                result.push_back(i);
        return result;
    }
    void count(std::size_t position, std::size_t node, renewal_tally::answer answer) {
        auto& counted = entries[position];
        counted.tally.count(node, std::move(answer));
        const auto [outcome, sent_at] = counted.tally.result();
        if (batch != nullptr && outcome != renewal::outcome::unknown)
            batch->settle(counted.index, outcome, sent_at + counted.ttl - drift(counted.ttl));
    }
};

// The call of a round is under way.
class renewals::round_mark {
public:
    round_mark(std::list<renewal_round*>& rounds, renewal_round& begun)
        : rounds_(rounds), position_(rounds.insert(rounds.end(), &begun)) {}
    ~round_mark() {
        (*position_)->batch = nullptr;
        rounds_.erase(position_);
    }
    round_mark(const round_mark&) = delete;
    round_mark& operator=(const round_mark&) = delete;

private:
    std::list<renewal_round*>& rounds_;
    const std::list<renewal_round*>::iterator position_;
};

// A renewal that is sent after a release could restore the hold.
void renewals::end_renewals_of(const hold& released) noexcept {
    for (auto* round : rounds_) {
        for (auto& each : round->entries)
            if (each.lock.value == released.grant.stored_value) each.is_released = true;
        round->changed.notify();
    }
}

asio::awaitable<void> renewals::renew(renewal_batch& batch) {
    std::vector<asio::awaitable<void>> rounds;
    for (const auto mode : {lock_mode::exclusive, lock_mode::shared}) {
        auto round = std::make_shared<renewal_round>(batch, nodes_.size(), client_.context);
        for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
            const auto& each = batch.renewals()[i];
            if (each.held->claim.mode != mode) continue;
            round->entries.push_back({i, locks_.lock_of(*each.held), each.held->grant.token,
                                      each.ttl, each.held->grant.deadline,
                                      renewal_tally(nodes_.size())});
            round->shortest_ttl = std::min(round->shortest_ttl, each.ttl);
        }
        if (!round->entries.empty()) rounds.push_back(renew_round(std::move(round)));
    }
    co_await client_.tasks.join(std::move(rounds));
}

// Ends when each renewal is settled, or its deadline is over.
asio::awaitable<void> renewals::renew_round(std::shared_ptr<renewal_round> round) {
    const round_mark mark(rounds_, *round);
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        client_.tasks.spawn(renew_at_node(round, i));
    auto silent_at = now() + client_.node_timeout(round->shortest_ttl);
    while (const auto open_until = round->open_until(now())) {
        if (now() >= silent_at) {
            silent_at = time_point::max();
            for (std::size_t i = 0; i < nodes_.size(); ++i)
                if (round->is_asked[i]) timing_.expect_answer(i, now());
        }
        co_await round->changed.wait_until(std::min(*open_until, silent_at));
    }
    if (std::ranges::any_of(round->entries, [](const renewal_round::entry& each) {
            return each.tally.has_outdated();
        }))
        client_.membership.on_outdated();
}

asio::awaitable<void> renewals::renew_at_node(std::shared_ptr<renewal_round> round,
                                              std::size_t node) {
    core::back_off pauses(*client_.context.time,
                          {.first = round->shortest_ttl / first_pause_share,
                           .longest = round->shortest_ttl / longest_pause_share});
    bool may_repeat_at_once = true;
    for (;;) {
        auto positions = round->positions_for(node, now());
        if (positions.empty()) co_return;
        const bool may_ask =
            !timing_.is_silent(node) || unanswered_[node] < most_unanswered_renewals;
        bool was_late = false;
        if (may_ask) was_late = co_await ask_for_renewals(round, node, std::move(positions));
        if (round->positions_for(node, now()).empty()) co_return;
        // The node's clock was set. The answer has its time, so the next request is right.
        if (was_late && std::exchange(may_repeat_at_once, false)) continue;
        const auto pause = std::max<duration>(pauses.next_pause(), 5ms);
        const bool is_open = co_await client_.tasks.pause_until(now() + pause);
        if (!is_open) co_return;
    }
}

// Empty: not known.
std::string renewals::node_time_text(std::size_t node, time_point when) const {
    const auto at_node = client_.clocks.clock_of(node, when);
    if (!at_node) return {};
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(*at_node).count());
}

asio::awaitable<bool> renewals::ask_for_renewals(std::shared_ptr<renewal_round> round,
                                                 std::size_t node,
                                                 std::vector<std::size_t> positions) {
    const renewal_round::request_mark mark(*round, node, unanswered_[node]);
    try {
        renew_call call(*client_.layout);
        auto give_up_at = now();
        for (const auto position : positions) {
            const auto& each = round->entries[position];
            // The deadline leaves out the drift, so the lease ends that much later.
            call.add(each.lock, each.token, each.ttl,
                     node_time_text(node, each.deadline + drift(each.ttl)),
                     node_time_text(node, now() + client_.node_timeout(each.ttl)));
            give_up_at = std::max(give_up_at, each.deadline);
        }
        const auto sent_at = now();
        // The script's text is sent after the answer to its digest. A release may have come between
        // the two, and the renewal would restore the hold.
        const auto may_repeat = [&round, &positions, this] {
            return std::ranges::all_of(positions, [&](std::size_t each) {
                return round->is_open(round->entries[each], now());
            });
        };
        const auto reply = co_await ask_node(nodes_.link_of(node), call, give_up_at, may_repeat,
                                             &client_.known_scripts);
        timing_.on_answer(node);
        timing_.note_round_trip(node, now() - sent_at);
        if (reply.type == redis::reply::kind::error) co_return false;
        auto answer = call.read(reply);
        client_.membership.on_objection(node, answer.standing);
        if (!answer.outcomes.empty())
            client_.clocks.note_clock(node, redis::milliseconds_of(answer.node_ms), sent_at);
        const auto member = std::make_shared<const membership_state>(std::move(answer.member));
        for (std::size_t i = 0; i < answer.outcomes.size(); ++i)
            round->count(positions[i], node, {answer.outcomes[i], sent_at, member});
        co_return answer.is_late;
    } catch (const redis::connection_lost& e) {
        if (client_.context.log)
            client_.context.log(nodes_.name_of(node) + ": a renewal was not answered: " + e.what());
    } catch (const std::exception&) {}  // the node is away, which the link has logged
    co_return false;
}

// The renewal of a reader also turns its exclusive hold into a shared one, at each node where that
// has not happened. So a downgrade that reaches a majority is completed by the next renewals.
asio::awaitable<std::optional<grant>> renewals::downgrade(const hold& held) {
    auto shared = held;
    shared.claim.mode = lock_mode::shared;
    // Copied before the requests, so that a downgrade that was carried out cannot fail here.
    std::optional<grant> result = held.grant;
    renewal_batch batch({renewal{.held = &shared, .ttl = held.claim.ttl}});
    co_await renew(batch);
    const auto& answer = batch.renewals().front();
    if (answer.result == renewal::outcome::refused) co_return std::nullopt;
    if (answer.result != renewal::outcome::extended)
        throw error(errc::no_quorum, "The lock '" + held.claim.name +
                                         "' was not made shared at a majority of the nodes. " +
                                         client_.membership.diagnosis().objections());
    result->deadline = answer.deadline;
    co_return result;
}

}  // namespace pawl::redlock
