// Work under a lock, for coroutines. blocking.hpp has the same for threads.
//
// Name the work before the co_await: some compilers destroy a temporary inside it twice. Any
// completion token, through asio::co_spawn.
#pragma once

#include <pawl/client.hpp>
#include <pawl/striped.hpp>

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
concept asynchronous = requires(Locks& locks, std::string name, lock_options options) {
    locks.async_acquire(std::move(name), options, boost::asio::deferred);
};
template <class Work>
using result_under = typename std::invoke_result_t<Work&, held_lock&>::value_type;
template <class Result>
using result_of_try = std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>>;

// What has been done is not called aborted because a cancellation came after it.
inline boost::asio::awaitable<void> give_back(held_lock& lock) {
    const bool throws = co_await boost::asio::this_coro::throw_if_cancelled();
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    co_await lock.async_release(boost::asio::deferred);
    co_await boost::asio::this_coro::throw_if_cancelled(throws);
}

}  // namespace detail

// Calls `work` with the handle of the lock, awaits what it returns, and gives back its result. The
// lock is given back before; if the work throws or is cancelled, in the background. Who must not
// work without the lock asks the handle: `lost`, or `token` for the resource. `locks` is a client
// or a lock_owner.
template <detail::asynchronous Locks, class Work>
    requires std::invocable<Work&, held_lock&>
boost::asio::awaitable<detail::result_under<Work>> with_lock(Locks& locks, std::string name,
                                                             lock_options options, Work work) {
    held_lock lock = co_await locks.async_acquire(std::move(name), options, boost::asio::deferred);
    if constexpr (std::is_void_v<detail::result_under<Work>>) {
        co_await work(lock);
        co_await detail::give_back(lock);
    } else {
        auto result = co_await work(lock);
        co_await detail::give_back(lock);
        co_return result;
    }
}

// The same without waiting. Empty, or false for work that returns nothing: it is somebody else's,
// and `work` was not called.
template <detail::asynchronous Locks, class Work>
    requires std::invocable<Work&, held_lock&>
boost::asio::awaitable<detail::result_of_try<detail::result_under<Work>>> try_with_lock(
    Locks& locks, std::string name, try_options options, Work work) {
    held_lock lock =
        co_await locks.async_try_acquire(std::move(name), options, boost::asio::deferred);
    if (!lock) co_return detail::result_of_try<detail::result_under<Work>>{};
    if constexpr (std::is_void_v<detail::result_under<Work>>) {
        co_await work(lock);
        co_await detail::give_back(lock);
        co_return true;
    } else {
        std::optional<detail::result_under<Work>> result = co_await work(lock);
        co_await detail::give_back(lock);
        co_return result;
    }
}

// For goods in several places: awaits `work(lock, index)` under the stripe of `key`, then under the
// following ones, each once, until its answer is true; gives that, or the last answer when every
// stripe was empty. `options.wait` counts for each.
template <detail::asynchronous Locks, class Work>
    requires std::invocable<Work&, held_lock&, std::size_t>
std::invoke_result_t<Work&, held_lock&, std::size_t> with_any_stripe(Locks& locks, striped stripes,
                                                                     std::string key,
                                                                     lock_options options,
                                                                     Work work) {
    const auto first = stripes.index_of(key);
    for (std::size_t tried = 1;; ++tried) {
        const auto index = (first + tried - 1) % stripes.size();
        const auto here = [&work, index](held_lock& lock) { return work(lock, index); };
        auto found = co_await with_lock(locks, stripes.name_of(index), options, here);
        if (found || tried == stripes.size()) co_return found;
    }
}

}  // namespace pawl
