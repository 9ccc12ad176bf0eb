// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The sync API: locks for threads. Standard headers only.
#pragma once

#include <pawl/client_options.hpp>
#include <pawl/detail/held_lock_base.hpp>
#include <pawl/detail/lock_set.hpp>
#include <pawl/detail/lock_work.hpp>
#include <pawl/error.hpp>
#include <pawl/examination.hpp>
#include <pawl/options.hpp>
#include <pawl/service.hpp>
#include <pawl/striped.hpp>
#include <pawl/types.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pawl::core {
class lock_owner_state;
}

namespace pawl::blocking {

class loop;
struct access;

// The handle of a granted lock. Pawl renews the lease until the release, the loss, or `max_hold`.
// Move-only; empty when default-constructed or moved from.
//
// The destructor releases the lock in the background: it never blocks and never throws. The
// client's destructor waits for that release. In a fork of the process, the handle is lost
// (loss_reason::forked), its destructor does nothing, `release` returns `unknown`, and `renew`
// throws errc::unsupported.
//
// Any thread may call any member, but two threads must not use one handle at the same time. On an
// empty handle, all members but operator bool and owns_lock throw errc::not_held. The handles that
// a lock_owner has for one lock share a hold: all members but `release` refer to that hold.
class [[nodiscard]] held_lock : public detail::held_lock_base {
public:
    held_lock() noexcept = default;
    held_lock(held_lock&&) noexcept = default;
    held_lock& operator=(held_lock&& other) noexcept;
    ~held_lock();

    // Releases the lock. Waits for the service's answer, and returns `unknown` if none came in
    // time: on Redis until the end of the lease or the reply timeout. A later call has the same
    // result. While other handles of a lock_owner keep the lock, the result is `still_held`. After
    // the release of the last handle, a later call for any of them has the result of that release.
    // If the hold had ended before (`expired`, `taken_over`), the work may have run without the
    // lock: the state is then `lost`, and `lost` is stopped. Throws for an empty handle only.
    release_result release();

    // Renews at once, beside the regular renewals, and waits until the service has confirmed.
    // `safe_until` is then the request's time plus the ttl, less drift (1 % of the ttl + 2 ms), but
    // at most the end of `max_hold`. Without an answer the request is repeated until the lease
    // ends. Throws errc::lost if the hold has ended.
    void renew();
    // Turns an exclusive hold into a shared one and renews it; no writer gets the lock in between,
    // and the fencing token stays. A shared hold stays as it is. Throws errc::lost if the hold has
    // ended, errc::bad_option if it has permits, and errc::unsupported if the service has no shared
    // locks.
    void downgrade();

private:
    friend struct access;
    held_lock(std::shared_ptr<core::lease> lease, std::uint32_t number,
              std::shared_ptr<loop> loop) noexcept
        : held_lock_base(std::move(lease), number), loop_(std::move(loop)) {}

    std::shared_ptr<loop> loop_;  // outlives the lease
};

// Releases a lock at the end of the scope, and waits for the service's answer. Afterwards the
// handle's `state` is `lost` if the hold had ended before.
class release_guard {
public:
    // The handle must outlive this object.
    explicit release_guard(held_lock& lock) noexcept : lock_(lock) {}
    ~release_guard() {
        if (lock_) (void)lock_.release();
    }
    release_guard(const release_guard&) = delete;
    release_guard& operator=(const release_guard&) = delete;

private:
    held_lock& lock_;
};

// The handles that `acquire_all` returns: see lock_set.
class [[nodiscard]] held_locks : public detail::lock_set<held_lock> {
public:
    held_locks() noexcept = default;

    // Releases the locks one after the other, the last name first, and returns the worst result.
    release_result release();
    // Renews the locks one after the other. Throws errc::lost at the first one that has ended.
    void renew();

private:
    friend struct access;
    explicit held_locks(std::vector<held_lock> locks) : lock_set(std::move(locks)) {}
};

// A thread-safe client of one service. Connects at the first use, and again for durable acquires.
//
// Functions throw pawl::error. Its reasons, as errc: bad_name, bad_option and unsupported for
// arguments; unreachable, refused, unavailable, wrong_type and protocol from the service; exhausted
// if the program lacks resources. An acquire with a `wait` continues while the service is away or
// unavailable; a try, and each function without a wait, throws.
//
// Cancellation: stopping `cancel` ends the wait with errc::cancelled. Neither a lock nor a place in
// the queue stays behind, as soon as the service can be reached.
//
// The destructor releases all holds, for up to `client_options::drain`. No call may be running when
// the destructor begins, and handles that exist longer are lost (loss_reason::client_closed). The
// client may be moved while its handles and objects exist. In a fork of the process, the client's
// functions throw errc::unsupported and its destructor does nothing: make a new client in the
// child.
class client {
public:
    // Throws errc::exhausted if the system has no threads or timers for the client.
    explicit client(service service, client_options options = {});
    client(client&&) noexcept = default;
    client& operator=(client&&) noexcept = delete;
    ~client();

    // One attempt, or polling as in `options.retry`. The handle is empty if the lock is taken.
    held_lock try_acquire(std::string_view name, try_options options = {},
                          std::stop_token cancel = {});

    // Acquires the lock, or waits in the queue for up to `options.wait`. Throws errc::timed_out if
    // the lock was not free in time.
    held_lock acquire(std::string_view name, lock_options options = {},
                      std::stop_token cancel = {});
    // As `acquire`, but the handle is empty if the lock was not free within `wait`. Throws
    // errc::bad_option if `options.wait` is set, too.
    held_lock try_acquire_for(std::string_view name, duration wait, lock_options options = {},
                              std::stop_token cancel = {});

    // As `acquire` and `try_acquire`, but with `value` as the content of the lock's key. Any
    // program that knows the value can renew and release the hold. Use a new value each time: if
    // two holds had one value, a late release of the first would end the second. `acquire_as` does
    // not queue: it polls, with the defaults of `polling`, until `options.wait` is over. A value
    // has 1 to 256 bytes without control characters, and does not begin with "pawl:". The lock must
    // be exclusive and not `fair`; else errc::bad_option. errc::unsupported: the service is not
    // Redis in the native layout. errc::unavailable, for a try: an earlier acquire under this value
    // is being undone.
    held_lock acquire_as(std::string_view name, std::string_view value, lock_options options = {},
                         std::stop_token cancel = {});
    held_lock try_acquire_as(std::string_view name, std::string_view value,
                             try_options options = {}, std::stop_token cancel = {});
    // Continues the hold that has this value, whichever program acquired it: renews it, and gives
    // it the next fencing token. Never takes a free lock. The handle is empty if no hold has this
    // value. The former holder must stop, since both would share one hold. Values and errors as for
    // `acquire_as`.
    held_lock adopt(std::string_view name, std::string_view value, try_options options = {},
                    std::stop_token cancel = {});

    // Acquires all of 1 to 256 names or none, with one `options.wait` for all. Duplicates count
    // once. The locks are acquired in the order of their names' bytes, so callers with common names
    // do not deadlock. One request first tries plain exclusive locks: on Redis in the native layout
    // (clusters need a key template), and at each Redlock node. errc::lost: one lock was lost
    // before the last one was granted. An error or a cancellation leaves nothing behind.
    held_locks acquire_all(std::vector<std::string> names, lock_options options = {},
                           std::stop_token cancel = {});
    // As `acquire_all`, but without waiting: where one request can take all locks, nothing but this
    // request; elsewhere one attempt for each lock in turn. With `options.retry`, each lock in turn
    // is polled with that many tries, while the locks before it stay held. The set is empty if one
    // of the locks is taken.
    held_locks try_acquire_all(std::vector<std::string> names, try_options options = {},
                               std::stop_token cancel = {});

    // The lock's state at the service, for display only.
    [[nodiscard]] lock_info inspect(std::string_view name);
    // Returns when the lock's fencing token is another one than `seen`: a new holder, or none. A
    // free lock has the empty token, and so has a hold without one. Inspects the lock every
    // `interval`, 1 ms or more, and can miss short holds. An error of the service ends the wait.
    [[nodiscard]] lock_info wait_change(std::string_view name, fencing_token seen,
                                        duration interval, std::stop_token cancel = {});
    // The held locks whose names begin with `prefix`, for display. Throws `incomplete_list`, too.
    [[nodiscard]] std::vector<lock_info> list(std::string_view prefix = {});
    // Takes the lock from all its holders and gives it to the next waiter. The holders lose it: at
    // once if the service pushes that, else with their next renewal. With an `expected` token, only
    // if a present holder has this token, such as the one that `inspect` has shown; a later holder
    // keeps the lock. False: nothing was released, because the lock was free or no holder had the
    // token. With Redlock, a hold that ends by itself meanwhile may count as released.
    bool force_release(std::string_view name, fencing_token expected = {});
    // Sets the semaphore's total (1 or more), whether or not a total is stored already. A smaller
    // total takes no permits away: no permit is granted until enough permits are returned.
    // errc::bad_option: the total is 0.
    void resize(std::string_view name, std::uint32_t permits);
    // Examines the service, and returns what it guarantees in its present configuration.
    [[nodiscard]] examination examine();

    // The counters of this client. Sends no request and does not wait.
    [[nodiscard]] pawl::statistics statistics() const noexcept;

private:
    friend struct access;
    std::shared_ptr<loop> loop_;
};

// An owner that can acquire its locks again. The nested acquire sends a request only if `durable`,
// has the same token, and keeps the other options. The lock is released with the last handle.
// Different owners exclude each other. Copies are the same owner. Thread-safe; the client must
// outlive it.
//
// errc::bad_option: the owner holds the lock as a reader or with permits, and requests another mode
// or more permits. errc::lost: the hold was lost, and one of its handles still exists.
class lock_owner {
public:
    // A new owner. Sends no request.
    explicit lock_owner(client& locks);

    // As the client's functions. While the owner waits for a lock, its other acquires of that lock
    // wait, too, and its tries find the lock taken.
    held_lock try_acquire(std::string_view name, try_options options = {},
                          std::stop_token cancel = {});
    held_lock acquire(std::string_view name, lock_options options = {},
                      std::stop_token cancel = {});
    held_lock try_acquire_for(std::string_view name, duration wait, lock_options options = {},
                              std::stop_token cancel = {});

    // As the client's functions. Locks that the owner holds already are entered again. An owner
    // that holds a lock and waits for others can deadlock with another owner, so set `wait`.
    held_locks acquire_all(std::vector<std::string> names, lock_options options = {},
                           std::stop_token cancel = {});
    held_locks try_acquire_all(std::vector<std::string> names, try_options options = {},
                               std::stop_token cancel = {});

private:
    std::shared_ptr<loop> loop_;
    std::shared_ptr<core::lock_owner_state> owner_;
};

// A client or a lock_owner of the sync API.
template <class Locks>
concept sync_locks = requires(Locks& locks, std::string_view name, lock_options options) {
    { locks.acquire(name, options) } -> std::same_as<held_lock>;
};

// Acquires the lock, calls `work(lock)` or `work(lock, stop)`, releases the lock, and returns the
// work's result. The release has ended when the function returns or throws. A loss does not end
// the work: the std::stop_token, which is `lock.lost()`, asks the work to stop; or the work
// passes `lock.token()` to the resource. If the hold had ended before its release, and the work
// did not throw, the function throws errc::lost: a lost_during_work that has the work's result.
template <sync_locks Locks, class Work>
    requires pawl::detail::lock_work<Work, held_lock>
pawl::detail::work_result<Work, held_lock> with_lock(Locks& locks, std::string_view name,
                                                     lock_options options, Work work,
                                                     std::stop_token cancel = {}) {
    held_lock lock = locks.acquire(name, options, std::move(cancel));
    return pawl::detail::work_and_release(lock, work);
}

// As with_lock, but with `try_acquire`. If the lock is taken, `work` is not called, and the result
// is empty, or false for work without a result.
template <sync_locks Locks, class Work, class Result = pawl::detail::work_result<Work, held_lock>>
    requires pawl::detail::lock_work<Work, held_lock>
std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>> try_with_lock(
    Locks& locks, std::string_view name, try_options options, Work work,
    std::stop_token cancel = {}) {
    held_lock lock = locks.try_acquire(name, options, std::move(cancel));
    if (!lock) return {};
    if constexpr (std::is_void_v<Result>) {
        pawl::detail::work_and_release(lock, work);
        return true;
    } else {
        return pawl::detail::work_and_release(lock, work);
    }
}

// Calls `work(lock, index)` under the stripe of `key`, then under the next stripes, each once,
// until the result is true. Returns the last result. `options.wait` counts for each stripe.
template <sync_locks Locks, class Work>
    requires std::invocable<Work&, held_lock&, std::size_t>
std::invoke_result_t<Work&, held_lock&, std::size_t> with_any_stripe(
    Locks& locks, const striped& stripes, std::string_view key, lock_options options, Work work) {
    const auto first = stripes.index_of(key);
    for (std::size_t tried = 1;; ++tried) {
        const auto index = (first + tried - 1) % stripes.size();
        auto result = with_lock(locks, stripes.name_of(index), options,
                                [&](held_lock& lock) { return work(lock, index); });
        if (result || tried == stripes.size()) return result;
    }
}

}  // namespace pawl::blocking
