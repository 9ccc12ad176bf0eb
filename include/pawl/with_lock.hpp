// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Work under a lock, for coroutines. pawl/blocking/client.hpp has the same for threads;
// asio::co_spawn supports other completion tokens.
//
// Name the work before the co_await: some compilers destroy a temporary inside it twice. `locks` is
// a client or a lock_owner, and must outlive the coroutine. Errors of the acquire are thrown as
// pawl::error, with their message. Cancellation: during the acquire as for client, but with a
// pawl::error of errc::cancelled; during the work as the work supports it.
#pragma once

#include <pawl/client.hpp>
#include <pawl/detail/lock_work.hpp>
#include <pawl/striped.hpp>
#include <pawl/with_diagnostics.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace pawl {

namespace detail {

template <class Locks>
concept async_locks = requires(Locks& locks, std::string name, lock_options options) {
    locks.async_acquire(std::move(name), options);
};
template <class Work>
using result_under = typename work_result<Work, held_lock>::value_type;
template <class Result>
using result_of_try = std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>>;

// Waits for the release. A cancellation that comes after the work does not discard its result.
inline boost::asio::awaitable<void> release_and_wait(held_lock& lock) {
    if (!lock) co_return;  // the work has moved it elsewhere
    const bool throws_if_cancelled = co_await boost::asio::this_coro::throw_if_cancelled();
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    (void)co_await lock.async_release(boost::asio::deferred);
    co_await boost::asio::this_coro::throw_if_cancelled(throws_if_cancelled);
}

}  // namespace detail

// Acquires the lock, awaits `work(lock)` or `work(lock, stop)`, releases the lock, and returns the
// work's result. If the work throws or is cancelled, the release happens in the background. A loss
// does not end the work: the std::stop_token, which is `lock.lost()`, asks the work to stop;
// or the work passes `lock.token()` to the resource. If the hold had ended before its release, and
// the work did not throw, errc::lost is thrown: a lost_during_work that has the work's result.
template <detail::async_locks Locks, class Work>
    requires detail::lock_work<Work, held_lock>
boost::asio::awaitable<detail::result_under<Work>> with_lock(Locks& locks, std::string name,
                                                             lock_options options, Work work) {
    held_lock lock = co_await locks.async_acquire(std::move(name), options);
    if constexpr (std::is_void_v<detail::result_under<Work>>) {
        co_await detail::call_work(work, lock);
        co_await detail::release_and_wait(lock);
        detail::throw_if_lost(lock);
    } else {
        auto result = co_await detail::call_work(work, lock);
        co_await detail::release_and_wait(lock);
        detail::throw_if_lost(lock, result);
        co_return result;
    }
}

// As with_lock, but with `async_try_acquire`. If the lock is taken, `work` is not called, and the
// result is empty, or false for work without a result.
template <detail::async_locks Locks, class Work>
    requires detail::lock_work<Work, held_lock>
boost::asio::awaitable<detail::result_of_try<detail::result_under<Work>>> try_with_lock(
    Locks& locks, std::string name, try_options options, Work work) {
    held_lock lock = co_await locks.async_try_acquire(std::move(name), options);
    if (!lock) co_return detail::result_of_try<detail::result_under<Work>>{};
    if constexpr (std::is_void_v<detail::result_under<Work>>) {
        co_await detail::call_work(work, lock);
        co_await detail::release_and_wait(lock);
        detail::throw_if_lost(lock);
        co_return true;
    } else {
        std::optional<detail::result_under<Work>> result = co_await detail::call_work(work, lock);
        co_await detail::release_and_wait(lock);
        detail::throw_if_lost(lock, *result);
        co_return result;
    }
}

// Awaits `work(lock, index)` under the stripe of `key`, then under the next stripes, each once,
// until the result is true. Returns the last result. `options.wait` counts for each stripe.
template <detail::async_locks Locks, class Work>
    requires std::invocable<Work&, held_lock&, std::size_t>
std::invoke_result_t<Work&, held_lock&, std::size_t> with_any_stripe(Locks& locks, striped stripes,
                                                                     std::string key,
                                                                     lock_options options,
                                                                     Work work) {
    const auto first = stripes.index_of(key);
    for (std::size_t tried = 1;; ++tried) {
        const auto index = (first + tried - 1) % stripes.size();
        const auto work_on_stripe = [&work, index](held_lock& lock) { return work(lock, index); };
        auto result = co_await with_lock(locks, stripes.name_of(index), options, work_on_stripe);
        if (result || tried == stripes.size()) co_return result;
    }
}

}  // namespace pawl
