// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The handle of several locks, async API.
#pragma once

#include <pawl/detail/lock_set.hpp>
#include <pawl/detail/operations.hpp>
#include <pawl/held_lock.hpp>
#include <pawl/with_diagnostics.hpp>

#include <utility>
#include <vector>

namespace pawl {

// The handles that `async_acquire_all` grants: see lock_set. Handlers run as those of held_lock. On
// an empty set, both operations throw errc::not_held when they are called.
class [[nodiscard]] held_locks : public detail::lock_set<held_lock> {
public:
    // For Asio: the type of `get_executor`.
    using executor_type = boost::asio::any_io_executor;

    held_locks() noexcept = default;

    // The executor of the client; an empty executor for an empty set. Thread-safe.
    [[nodiscard]] executor_type get_executor() const noexcept {
        return handles.empty() ? executor_type() : handles.front().get_executor();
    }

    // Releases all locks, with their requests in flight at the same time.
    // Handler: void(release_result).
    // Completes with the worst result when every lock is released, or not confirmed in time.
    // Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_release(Token&& token = {}) {
        throw_if_empty();
        return detail::initiate_plain<Token>(first_lease(), &detail::start_release_all, token,
                                             handle_ids());
    }

    // Renews the locks one after the other, as held_lock::async_renew.
    // Handler: void(error_code).
    // Completes when the service has confirmed every renewal, or when one has failed.
    // Cancellation: none.
    // Errors: lost (one of the holds has ended; the locks after it were not renewed).
    template <class Token = default_token>
    auto async_renew(Token&& token = {}) {
        throw_if_empty();
        return detail::initiate<Token>(first_lease(), &detail::start_renew_all, token,
                                       handle_ids());
    }

private:
    friend struct core::access;
    explicit held_locks(std::vector<held_lock> locks) : lock_set(std::move(locks)) {}

    [[nodiscard]] detail::lease_ptr first_lease() const;
    [[nodiscard]] std::vector<core::handle_id> handle_ids() const;
};

}  // namespace pawl
