// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Repeats attempts until the locks are granted, or the caller's time is over.
#include "locks.hpp"

#include "../common/back_off.hpp"

#include "../../core/util/random.hpp"
#include "../../core/util/transient.hpp"
#include "../../core/util/wait_notice.hpp"

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// After attempts that were made at the same time, beside the time of an attempt.
constexpr redis::limits split_bounds{.first_pause = 5ms, .longest_pause = 500ms};
// After so many splits in a row, a waiter waits as for a held lock: the rest of a dead client, or a
// holder of which some nodes cannot tell.
constexpr unsigned most_splits = 6;
// Without fencing, the holder may be of another library, which wakes nobody.
constexpr redis::limits poll_bounds{.first_pause = 50ms, .longest_pause = 1s};
// After messages that the lock is free, and it was not. Anybody who may publish can send them.
constexpr redis::limits wake_bounds{.first_pause = 2ms, .longest_pause = 100ms};
constexpr auto seldom_woken = 1s;
// During a quarantine, a waiter asks the nodes at least so often.
constexpr auto longest_quarantine_pause = 5s;

}  // namespace

struct locks::acquire_try {
    explicit acquire_try(runtime& time, std::string_view owner)
        : rank(rank_of(owner)), pauses(time, split_bounds) {}

    const std::string rank;
    precedence known{};
    redis::back_off pauses;
    unsigned splits = 0;  // in a row

    // The nodes tell the attempts apart by their owners, so each has a new one.
    [[nodiscard]] std::string next_owner(runtime& time) const {
        return rank + core::random_hex(time, (2 * 16 - rank_size) / 2);
    }
    // How long this try leaves the nodes to the others.
    [[nodiscard]] duration pause_after(const attempt_result& failed) {
        if (failed.first_rank) known.give_way_to(*failed.first_rank);
        ++splits;
        return 2 * failed.took + pauses.next_pause();
    }
};

// When a waiter tries again if no node wakes it.
time_point locks::next_attempt_after(const attempt_result& failed, redis::back_off& poll_pauses) {
    auto result = now() + core::random_between(time(), redis::min_refresh_interval,
                                               redis::max_refresh_interval);
    if (!set_.is_fenced()) result = std::min(result, now() + poll_pauses.next_pause());
    if (failed.free_at)
        result =
            std::min(result, *failed.free_at + core::random_between(time(), duration(1ms), 20ms));
    return result;
}

asio::awaitable<std::optional<grant>> locks::acquire(const claim& requested,
                                                     time_point give_up_at) {
    const bool is_blocking = give_up_at > now();
    std::optional<waiter> own_waiter;
    if (is_blocking) own_waiter.emplace(*this, requested.name);
    redis::back_off outage_pauses(time(), bounds_);
    acquire_try current(time(), requested.owner);
    const auto split_until = is_blocking ? give_up_at : now() + longest_try();
    redis::back_off poll_pauses(time(), poll_bounds);
    redis::back_off wake_pauses(time(), wake_bounds);
    std::optional<time_point> last_woken;
    core::wait_notice notice(time(), context_.log);
    std::string next_owner;
    for (;; next_owner = current.next_owner(time())) {
        attempt_result result;
        result.trouble =
            co_await members_.wait_for_majority(is_blocking ? give_up_at : try_deadline());
        if (!result.trouble) {
            std::vector<requested_lock> wanted;
            wanted.push_back(
                make_lock(requested, next_owner.empty() ? requested.owner : next_owner));
            result = co_await try_all_nodes(std::move(wanted), requested.ttl, is_blocking,
                                            current.known);
            if (own_waiter && result.is_in_line) own_waiter->may_be_in_line = true;
        }
        if (!result.grants.empty()) {
            auto granted = std::move(result.grants.front());
            granted.owner = std::move(next_owner);
            co_return granted;
        }
        if (result.trouble && (now() >= give_up_at || !core::is_transient(*result.trouble)))
            throw *result.trouble;
        if (result.split && !is_blocking && now() >= split_until) throw *result.split;
        if (now() >= give_up_at && (is_blocking || !result.split)) co_return std::nullopt;
        if (result.trouble) {
            notice.report(result.trouble->what());
            auto until = now() + outage_pauses.next_pause();
            // An operator may end the quarantine.
            if (const auto end = members_.quarantine_end())
                until =
                    std::max(until, std::min<time_point>(*end, now() + longest_quarantine_pause));
            co_await own_waiter->woken.wait_until(std::min(give_up_at, until));
            continue;
        }
        outage_pauses.reset();
        if (result.split && (!is_blocking || current.splits < most_splits)) {
            const auto wait = std::min(current.pause_after(result), split_until - now());
            co_await pause(wait, wait);
            continue;
        }
        if (!result.split) current.splits = 0;
        const auto next_attempt = next_attempt_after(result, poll_pauses);
        const bool was_woken =
            co_await own_waiter->woken.wait_until(std::min(give_up_at, next_attempt));
        if (!was_woken) continue;
        if (!last_woken || now() - *last_woken > seldom_woken) {
            wake_pauses.reset();
        } else {
            const auto wait = std::min(wake_pauses.next_pause(), give_up_at - now());
            co_await pause(wait, wait);
        }
        last_woken = now();
    }
}

asio::awaitable<std::vector<grant>> locks::acquire_batch(std::span<const claim> claims,
                                                         time_point give_up_at) {
    const bool is_blocking = give_up_at > now();
    const auto trouble =
        co_await members_.wait_for_majority(is_blocking ? give_up_at : try_deadline());
    if (trouble) throw *trouble;
    acquire_try current(time(), claims.front().owner);
    const auto split_until = now() + longest_try();
    const auto ttl = std::ranges::min(claims, {}, &claim::ttl).ttl;
    for (;;) {
        std::vector<requested_lock> wanted;
        std::vector<std::string> owners;
        // All owners of a try have its rank, so that two sets are in the same order at each name.
        for (const auto& each : claims) {
            owners.push_back(current.next_owner(time()));
            wanted.push_back(make_lock(each, owners.back()));
        }
        auto result = co_await try_all_nodes(std::move(wanted), ttl, false, current.known);
        if (result.trouble) throw *result.trouble;
        for (std::size_t i = 0; i < result.grants.size(); ++i)
            result.grants[i].owner = std::move(owners[i]);
        if (!result.split) co_return std::move(result.grants);
        if (now() >= split_until && !is_blocking) throw *result.split;
        if (now() >= split_until || (is_blocking && now() >= give_up_at))
            co_return std::vector<grant>();
        const auto wait = std::min(current.pause_after(result), split_until - now());
        co_await pause(wait, wait);
    }
}

}  // namespace pawl::redlock
