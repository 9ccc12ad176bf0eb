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

// After attempts that were made at the same time.
constexpr redis::limits split_bounds{.first_pause = 2ms, .longest_pause = 500ms};
// Without fencing, the holder may be of another library, which wakes nobody.
constexpr redis::limits poll_bounds{.first_pause = 50ms, .longest_pause = 1s};
// During a quarantine, a waiter asks the nodes at least so often.
constexpr auto longest_quarantine_pause = 5s;

}  // namespace

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
    redis::back_off split_pauses(time(), split_bounds);
    redis::back_off poll_pauses(time(), poll_bounds);
    core::wait_notice notice(time(), context_.log);
    // The nodes tell the attempts apart by their owners, so each has a new one.
    std::string next_owner;
    for (;; next_owner = core::random_hex(time(), 16)) {
        attempt_result result;
        result.trouble =
            co_await members_.wait_for_majority(is_blocking ? give_up_at : reply_deadline());
        if (!result.trouble) {
            std::vector<requested_lock> wanted;
            wanted.push_back(
                make_lock(requested, next_owner.empty() ? requested.owner : next_owner));
            result = co_await try_all_nodes(std::move(wanted), requested.ttl, is_blocking);
            if (own_waiter && result.is_in_line) own_waiter->may_be_in_line = true;
        }
        if (!result.grants.empty()) {
            auto granted = std::move(result.grants.front());
            granted.owner = std::move(next_owner);
            co_return granted;
        }
        if (result.trouble && (now() >= give_up_at || !core::is_transient(*result.trouble)))
            throw *result.trouble;
        if (now() >= give_up_at) co_return std::nullopt;
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
        if (result.was_split) {
            co_await pause(1ms, 1ms + split_pauses.next_pause());
            continue;
        }
        split_pauses.reset();
        const auto next_attempt = next_attempt_after(result, poll_pauses);
        co_await own_waiter->woken.wait_until(std::min(give_up_at, next_attempt));
    }
}

asio::awaitable<std::vector<grant>> locks::acquire_batch(std::span<const claim> claims,
                                                         time_point give_up_at) {
    const auto wait_until = give_up_at > now() ? give_up_at : reply_deadline();
    const auto trouble = co_await members_.wait_for_majority(wait_until);
    if (trouble) throw *trouble;
    std::vector<requested_lock> wanted;
    auto ttl = claims.front().ttl;
    for (const auto& each : claims) {
        wanted.push_back(make_lock(each, each.owner));
        ttl = std::min(ttl, each.ttl);
    }
    auto result = co_await try_all_nodes(std::move(wanted), ttl, false);
    if (result.trouble) throw *result.trouble;
    co_return std::move(result.grants);
}

}  // namespace pawl::redlock
