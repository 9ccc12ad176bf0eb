// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Re-entrant locks, async API. pawl/blocking/client.hpp has the sync API.
#pragma once

#include <pawl/client.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl {

// An owner that can acquire its locks again. The nested acquire sends a request only if `durable`,
// has the same token, and keeps the other options. The lock is released with the last handle.
// Different owners exclude each other. Copies are the same owner: give one to each coroutine.
//
// While the owner waits for a lock, its other acquires of that lock wait, too, and its tries find
// the lock taken. After the end of the client, every acquire fails.
//
// Thread-safe. Handlers, diagnostics, cancellation and errors as for client, and also: bad_option
// (the owner holds the lock as a reader or with permits, and requests another mode or more
// permits); lost (the hold was lost, and one of its handles still exists).
class lock_owner : public detail::io_object {
public:
    // A new owner. Sends no request.
    explicit lock_owner(client& locks) : io_object(locks), owner_(detail::make_owner(engine_)) {}

    // As client::async_acquire, client::async_try_acquire_for and client::async_try_acquire.
    template <class Token = default_token>
    auto async_acquire(std::string name, lock_options options = {}, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire, token, owner_,
                                       std::move(name), options, std::nullopt);
    }
    template <class Token = default_token>
    auto async_try_acquire_for(std::string name, duration wait, lock_options options = {},
                               Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_try_acquire_for, token, owner_,
                                       std::move(name), wait, options);
    }
    template <class Token = default_token>
    auto async_try_acquire(std::string name, try_options options = {}, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire, token, owner_,
                                       std::move(name), detail::to_lock_options(options),
                                       options.retry);
    }

    // As client::async_acquire_all and client::async_try_acquire_all. Locks that the owner holds
    // already are entered again. An owner that holds a lock and waits for others can deadlock with
    // another owner, so set `wait`.
    template <class Token = default_token>
    auto async_acquire_all(std::vector<std::string> names, lock_options options = {},
                           Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_all, token, owner_,
                                       std::move(names), options, std::nullopt);
    }
    template <class Token = default_token>
    auto async_try_acquire_all(std::vector<std::string> names, try_options options = {},
                               Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_all, token, owner_,
                                       std::move(names), detail::to_lock_options(options),
                                       options.retry);
    }

private:
    detail::owner_ptr owner_;
};

}  // namespace pawl
