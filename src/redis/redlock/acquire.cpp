// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An attempt: rounds in which all nodes are asked, until the locks are granted, the wait is over,
// or too few nodes answer.
#include "locks.hpp"

#include "../common/waits.hpp"

#include "../../core/util/back_off.hpp"
#include "../../core/util/random.hpp"

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// After rounds that were made at the same time, beside the time of an attempt.
constexpr core::pause_lengths split_pauses{.first = 5ms, .longest = 500ms};
// After so many splits in a row, a waiter waits as for a held lock: the rest of a dead client, or a
// holder of which some nodes cannot tell.
constexpr unsigned most_splits = 6;
// Without fencing, the holder may be of another library, which wakes nobody.
constexpr core::pause_lengths poll_lengths{.first = 50ms, .longest = 1s};
// After messages that the lock is free, and it was not. Anybody who may publish can send them.
constexpr core::pause_lengths wake_lengths{.first = 2ms, .longest = 100ms};
constexpr auto seldom_woken = 1s;
// During a quarantine, a waiter asks the nodes at least so often.
constexpr auto longest_quarantine_pause = 5s;

}  // namespace

struct locks::acquire_try {
    explicit acquire_try(runtime& time, std::string_view owner)
        : rank(rank_of(owner)), pauses(time, split_pauses) {}

    const std::string rank;
    precedence known{};
    core::back_off pauses;
    unsigned splits = 0;  // in a row

    // The nodes tell the rounds apart by their owners, so each has a new one.
    [[nodiscard]] std::string next_owner(runtime& time) const {
        return rank + core::random_hex(time, (std::size_t{2} * 16 - rank_size) / 2);
    }
    // How long this try leaves the nodes to the others.
    [[nodiscard]] duration pause_after(const attempt_result& failed) {
        if (failed.first_rank) known.give_way_to(*failed.first_rank);
        ++splits;
        return 2 * failed.took + pauses.next_pause();
    }
    // The same, with the time for another attempt left before `until`. Throws the split if there is
    // none.
    [[nodiscard]] duration pause_before(time_point until, time_point now,
                                        const attempt_result& failed) {
        const auto longest = until - now - failed.took;
        if (longest <= duration{}) throw *failed.split;
        return std::min(pause_after(failed), longest);
    }
    void end_series_of_splits() noexcept {
        splits = 0;
        pauses.reset();
    }
};

time_point locks::reply_deadline(bool is_blocking, time_point give_up_at) const {
    return is_blocking ? std::max(give_up_at, now() + redis::min_reply_wait)
                       : client_.try_deadline();
}

// The bounds of the random number are equal, and it is drawn all the same: a simulation with a
// known seed must stay as it is.
asio::awaitable<void> locks::pause(duration length) {
    core::wakeup timer(time(), context_.strand);
    co_await timer.wait_until(now() + core::random_between(time(), length, length));
}

// When a waiter tries again if no node wakes it.
time_point locks::next_attempt_after(const attempt_result& failed, core::back_off& poll_pauses) {
    auto result = now() + core::random_between(time(), redis::min_refresh_interval,
                                               redis::max_refresh_interval);
    if (!set_.is_fenced) result = std::min(result, now() + poll_pauses.next_pause());
    if (failed.free_at)
        result =
            std::min(result, *failed.free_at + core::random_between(time(), duration(1ms), 20ms));
    return result;
}

asio::awaitable<std::optional<grant>> locks::acquire(const claim& requested,
                                                     time_point give_up_at) {
    const bool is_blocking = give_up_at > now();
    std::optional<waiting_line::waiter> own_waiter;
    if (is_blocking) own_waiter.emplace(line_, requested.name);
    acquire_try current(time(), requested.owner);
    const auto try_ends = client_.try_deadline();
    core::back_off poll_pauses(time(), poll_lengths);
    core::back_off wake_pauses(time(), wake_lengths);
    std::optional<time_point> last_woken;
    std::string owner = requested.owner;
    for (;; owner = current.next_owner(time())) {
        const auto ends_by = is_blocking ? reply_deadline(true, give_up_at) : try_ends;
        const auto shortage = co_await members_.wait_for_majority(ends_by);
        if (shortage) throw may_be_repeated(*shortage);
        auto written = round_owners::prepare(owner, requested.owner);
        std::vector<requested_lock> wanted;
        wanted.push_back(lock_factory_.make_lock(requested, owner));
        auto result = co_await attempts_.try_all_nodes(std::move(wanted), requested.ttl,
                                                       is_blocking, ends_by, current.known);
        if (own_waiter && result.is_in_line) own_waiter->may_be_in_line = true;
        if (!result.grants.empty()) {
            owners_.add(std::move(written));
            if (own_waiter) own_waiter->was_granted = true;
            co_return std::move(result.grants.front());
        }
        if (result.trouble) throw may_be_repeated(*result.trouble);
        if (!result.split) current.end_series_of_splits();
        if (now() >= give_up_at && (is_blocking || !result.split)) co_return std::nullopt;
        if (result.split && (!is_blocking || current.splits < most_splits)) {
            const auto wait = is_blocking
                                  ? std::min(current.pause_after(result), give_up_at - now())
                                  : current.pause_before(try_ends, now(), result);
            co_await pause(wait);
            if (!is_blocking && now() >= try_ends) throw *result.split;
            continue;
        }
        const auto next_attempt = next_attempt_after(result, poll_pauses);
        const bool was_woken =
            co_await own_waiter->woken.wait_until(std::min(give_up_at, next_attempt));
        if (!was_woken) continue;
        if (!last_woken || now() - *last_woken > seldom_woken) {
            wake_pauses.reset();
        } else {
            const auto wait = std::min(wake_pauses.next_pause(), give_up_at - now());
            co_await pause(wait);
        }
        last_woken = now();
    }
}

// During a quarantine, earlier requests would be in vain; an operator may end it.
error locks::may_be_repeated(const error& trouble) const {
    const auto end = members_.view().quarantine_end();
    if (!end || !trouble.is_transient()) return trouble;
    return {trouble.reason(), trouble.what(), true,
            std::min<time_point>(*end, now() + longest_quarantine_pause)};
}

asio::awaitable<std::vector<grant>> locks::acquire_batch(std::span<const claim> claims,
                                                         time_point give_up_at) {
    const bool is_blocking = give_up_at > now();
    const auto try_ends = client_.try_deadline();
    const auto end_of_attempt = [&] {
        return is_blocking ? reply_deadline(true, give_up_at) : try_ends;
    };
    const auto trouble = co_await members_.wait_for_majority(end_of_attempt());
    if (trouble) throw may_be_repeated(*trouble);
    acquire_try current(time(), claims.front().owner);
    // A wait goes on with one name after the other.
    const auto split_until = std::min(give_up_at, now() + client_.longest_try());
    const auto ttl = std::ranges::min(claims, {}, &claim::ttl).ttl;
    for (;;) {
        std::vector<requested_lock> wanted;
        std::vector<round_owners::prepared_entry> written;
        // All owners of a try have its rank, so that two sets are in the same order at each name.
        for (const auto& each : claims) {
            const auto owner = current.next_owner(time());
            written.push_back(round_owners::prepare(owner, each.owner));
            wanted.push_back(lock_factory_.make_lock(each, owner));
        }
        auto result = co_await attempts_.try_all_nodes(std::move(wanted), ttl, false,
                                                       end_of_attempt(), current.known);
        if (result.trouble) throw may_be_repeated(*result.trouble);
        for (std::size_t i = 0; i < result.grants.size(); ++i)
            owners_.add(std::move(written[i]));
        if (!result.split) co_return std::move(result.grants);
        if (is_blocking && now() >= split_until) co_return std::vector<grant>();
        const auto wait = is_blocking ? std::min(current.pause_after(result), split_until - now())
                                      : current.pause_before(try_ends, now(), result);
        co_await pause(wait);
        if (!is_blocking && now() >= try_ends) throw *result.split;
    }
}

}  // namespace pawl::redlock
