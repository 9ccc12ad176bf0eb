// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The async API: locks for programs with an event loop, with any Asio completion token.
#pragma once

#include <pawl/client_options.hpp>
#include <pawl/detail/operations.hpp>
#include <pawl/error.hpp>
#include <pawl/examination.hpp>
#include <pawl/held_lock.hpp>
#include <pawl/held_locks.hpp>
#include <pawl/options.hpp>
#include <pawl/service.hpp>
#include <pawl/with_diagnostics.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

// A client of one service. It connects at the first use. Thread-safe: it uses a strand of its own
// on the given executor.
//
// Handlers run on their associated executor, by default the client's, and never inside the
// initiating function. In their signatures, `error_code` is boost::system::error_code. The default
// token is for coroutines: `co_await` throws a pawl::error with the message of the failure. With
// another token, `with_diagnostics` does the same, and `redirect_diagnostics` puts the message into
// an object.
//
// Cancellation: every operation but `async_close` supports terminal, partial and total. It
// completes with boost::asio::error::operation_aborted, unless its result is there already; with a
// lock file, a running transaction ends first. A cancelled acquire leaves neither a lock nor a
// place in the queue behind, as soon as the service can be reached. A cancelled change, such as
// `async_resize`, may have been carried out.
//
// Errors, as errc: bad_name, bad_option and unsupported for arguments; unreachable, refused,
// unavailable, wrong_type and protocol from the service; exhausted if the program lacks resources;
// cancelled if the client was closed meanwhile. An acquire with a `wait` continues while the
// service is away or unavailable; a try, and each operation without a wait, fails.
//
// The destructor closes the client in the background, as `async_close` does, if the executor still
// runs. The client may be moved while its handles and objects exist. A client, its handles and its
// other objects may outlive the event loop: every hold is then lost, their destructors do nothing,
// and no operation may be called. No other thread may use them while the loop is destroyed, except
// that it may destroy handles. In a fork of the process, operations fail with errc::unsupported,
// and closing sends nothing. If the child runs the event loop, call the loop's `notify_fork` first;
// make a new client in the child (not with a lock file that the parent has open).
//
// A new client does not count as outstanding work of the event loop. After its first acquire, or
// its first request to Redis, `io_context::run()` does not return until the client is closed.
class client : public detail::io_object {
public:
    // Throws errc::exhausted if the system has no threads or timers for the client.
    client(boost::asio::any_io_executor executor, service service);
    client(boost::asio::any_io_executor executor, service service, const client_options& options);
    // Pass a named object: GCC 12 corrupts a temporary with strings inside a co_await.
    client(boost::asio::any_io_executor executor, service service,
           client_options&& options) = delete;  // name the options first
    client(client&&) noexcept = default;
    client& operator=(client&&) noexcept = delete;
    ~client();

    // Acquires the lock, or waits in the queue for up to `options.wait`.
    // Handler: void(error_code, held_lock).
    // Completes when the lock is granted, or the wait is over.
    // Errors: timed_out (the lock was not free in time).
    template <class Token = default_token>
    auto async_acquire(std::string name, lock_options options = {}, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire, token, nullptr,
                                       std::move(name), options, std::nullopt);
    }

    // As `async_acquire`, but the handle is empty, without an error, if the lock was not free
    // within `wait`. Handler: void(error_code, held_lock).
    // Errors: bad_option (`options.wait` is set, too).
    template <class Token = default_token>
    auto async_try_acquire_for(std::string name, duration wait, lock_options options = {},
                               Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_try_acquire_for, token, nullptr,
                                       std::move(name), wait, options);
    }

    // One attempt, or polling as in `options.retry`.
    // Handler: void(error_code, held_lock).
    // Completes when the service has answered the last attempt. The handle is empty, without an
    // error, if the lock is taken.
    template <class Token = default_token>
    auto async_try_acquire(std::string name, try_options options = {}, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire, token, nullptr,
                                       std::move(name), detail::to_lock_options(options),
                                       options.retry);
    }

    // As `async_acquire` and `async_try_acquire`, but with `value` as the content of the lock's
    // key. Any program that knows the value can renew and release the hold. Use a new value each
    // time: if two holds had one value, a late release of the first would end the second.
    // `async_acquire_as` does not queue: it polls, with the defaults of `polling`, until
    // `options.wait` is over. A value has 1 to 256 bytes without control characters, and does not
    // begin with "pawl:". The lock must be exclusive and not `fair`.
    // Handler: void(error_code, held_lock).
    // Errors: timed_out (the lock was not free in time); bad_option (the value or the options);
    // unsupported (the service is not Redis in the native layout); unavailable, for a try (an
    // earlier acquire under this value is being undone).
    template <class Token = default_token>
    auto async_acquire_as(std::string name, std::string value, lock_options options = {},
                          Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_as, token, std::move(name),
                                       {.value = std::move(value), .is_adopting = false}, options,
                                       std::nullopt);
    }
    template <class Token = default_token>
    auto async_try_acquire_as(std::string name, std::string value, try_options options = {},
                              Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_as, token, std::move(name),
                                       {.value = std::move(value), .is_adopting = false},
                                       detail::to_lock_options(options), options.retry);
    }

    // Continues the hold that has this value, whichever program acquired it: renews it, and gives
    // it the next fencing token. Never takes a free lock. The former holder must stop, since both
    // would share one hold.
    // Handler: void(error_code, held_lock).
    // Completes when the service has answered. The handle is empty, without an error, if no hold
    // has this value.
    // Errors: as for `async_try_acquire_as`.
    template <class Token = default_token>
    auto async_adopt(std::string name, std::string value, try_options options = {},
                     Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_as, token, std::move(name),
                                       {.value = std::move(value), .is_adopting = true},
                                       detail::to_lock_options(options), options.retry);
    }

    // Acquires all of 1 to 256 names or none, with one `options.wait` for all. Duplicates count
    // once. The locks are acquired in the order of their names' bytes, so callers with common names
    // do not deadlock. One request first tries plain exclusive locks: on Redis in the native
    // layout (clusters need a key template), and at each Redlock node.
    // Create the vector before the co_await: GCC 12 does not compile names in braces inside it.
    // Handler: void(error_code, held_locks).
    // Completes when all locks are granted, or the wait is over. An error or a cancellation leaves
    // nothing behind.
    // Errors: timed_out (not all were free in time); lost (one lock was lost before the last one
    // was granted).
    template <class Token = default_token>
    auto async_acquire_all(std::vector<std::string> names, lock_options options = {},
                           Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_all, token, nullptr,
                                       std::move(names), options, std::nullopt);
    }
    // As `async_acquire_all`, but without waiting: where one request can take all locks, nothing
    // but this request; elsewhere one attempt for each lock in turn. With
    // `options.retry`, each lock in turn is polled with that many tries, while the locks before it
    // stay held. Empty, without an error, if one of them is taken.
    template <class Token = default_token>
    auto async_try_acquire_all(std::vector<std::string> names, try_options options = {},
                               Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_all, token, nullptr,
                                       std::move(names), detail::to_lock_options(options),
                                       options.retry);
    }

    // The lock's state at the service, for display only.
    // Handler: void(error_code, lock_info).
    // Completes when the service has answered.
    template <class Token = default_token>
    auto async_inspect(std::string name, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_inspect, token, std::move(name));
    }

    // Waits until the lock's fencing token differs from `seen`: a new holder, or none.
    // Handler: void(error_code, lock_info).
    // Completes when an inspection finds another fencing token. A free lock has the empty token,
    // and so has a hold without one. There is an inspection every `interval`, 1 ms or more, so
    // short holds can be missed.
    // Errors: bad_option (the interval is too short). An error of the service ends the wait.
    template <class Token = default_token>
    auto async_wait_change(std::string name, fencing_token seen, duration interval,
                           Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_wait_change, token, std::move(name),
                                       seen, interval);
    }

    // The held locks whose names begin with `prefix`, for display only.
    // Handler: void(error_code, std::vector<lock_info>).
    // Completes when the service has answered; with an error, the servers that have answered count.
    template <class Token = default_token>
    auto async_list(std::string prefix, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_list, token, std::move(prefix));
    }

    // Takes the lock from all its holders and gives it to the next waiter. The holders lose it: at
    // once if the service pushes that, else with their next renewal.
    // Handler: void(error_code, bool).
    // Completes when the service has answered. False: the lock was free.
    template <class Token = default_token>
    auto async_force_release(std::string name, Token&& token = {}) {
        return async_force_release(std::move(name), fencing_token(), std::forward<Token>(token));
    }
    // The same, but only if a present holder has the `expected` token, such as the one that
    // `async_inspect` has shown; a later holder keeps it. The empty token is any holder's. With
    // Redlock, a hold that ends by itself meanwhile may count as released.
    // Handler: void(error_code, bool).
    // Completes when the service has answered. False: nothing was released, because the lock was
    // free or no holder had the token.
    template <class Token = default_token>
    auto async_force_release(std::string name, fencing_token expected, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_force_release, token,
                                       std::move(name), expected);
    }

    // Sets the semaphore's total (1 or more), whether or not a total is stored already. A smaller
    // total takes no permits away: no permit is granted until enough permits are returned.
    // Handler: void(error_code).
    // Completes when the service has confirmed.
    // Errors: bad_option (the total is 0).
    template <class Token = default_token>
    auto async_resize(std::string name, std::uint32_t permits, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_resize, token, std::move(name),
                                       permits);
    }

    // Examines the service, and returns what it guarantees in its present configuration.
    // Handler: void(error_code, examination).
    // Completes when the service has answered.
    template <class Token = default_token>
    auto async_examine(Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_examine, token);
    }

    // Closes the client. Its holds are lost (loss_reason::client_closed) and released, its
    // outstanding operations end with errc::cancelled, and its connections end. Later operations of
    // the client fail with errc::cancelled. A later `async_close` completes together with the
    // first, or at once after it. Handler: void(). Completes when the service has answered, or
    // after `client_options::drain`. Then the client does not count as outstanding work of the
    // event loop. Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_close(Token&& token = {}) {
        return detail::initiate_plain<Token>(engine_, &detail::start_close, token);
    }

    // The counters of this client. Sends no request and does not wait.
    [[nodiscard]] pawl::statistics statistics() const noexcept;
};

}  // namespace pawl
