// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The handle of one hold, async API.
#pragma once

#include <pawl/detail/held_lock_base.hpp>
#include <pawl/detail/operations.hpp>
#include <pawl/with_diagnostics.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/deferred.hpp>

#include <cstdint>
#include <utility>

namespace pawl {

// The handle of a granted lock. Pawl renews the lease until the release, the loss, or `max_hold`.
// Move-only; empty when default-constructed or moved from.
//
// The destructor releases the lock in the background: it never blocks and never throws. In a fork
// of the process, the handle is lost (loss_reason::forked), its destructor does nothing,
// `async_release` completes with `unknown`, `async_wait_lost` with the reason `forked`, and the
// other operations fail with errc::unsupported.
//
// Any thread may call any member, but two threads must not use one handle at the same time. On an
// empty handle, the async operations throw errc::not_held when they are called. The handles that
// a lock_owner has for one lock share a hold: all members but `async_release` refer to that hold.
//
// Handlers run on their associated executor, by default the client's, and never inside the
// initiating function. In their signatures, `error_code` is boost::system::error_code. An operation
// may be given a diagnostics object, which it sets to the message of its failure. The handle may be
// moved or destroyed while an operation runs; its destruction releases the lock.
class [[nodiscard]] held_lock : public detail::held_lock_base {
public:
    // For Asio: the type of `get_executor`.
    using executor_type = boost::asio::any_io_executor;

    held_lock() noexcept = default;
    held_lock(held_lock&&) noexcept = default;
    held_lock& operator=(held_lock&& other) noexcept;
    ~held_lock();

    // The executor of the client; an empty executor for an empty handle.
    [[nodiscard]] executor_type get_executor() const noexcept {
        return detail::executor_of(lease_);
    }

    // Releases the lock.
    // Handler: void(release_result).
    // Completes when the service has answered, or with `unknown` when no answer came in time. A
    // later call has the same result. While other handles of a lock_owner keep the lock, the result
    // is `still_held`. After the release of the last handle, a later call for any of them has the
    // result of that release. If the hold had ended before (`expired`, `taken_over`), the work may
    // have run without the lock: the state is then `lost`, and `lost` is stopped.
    // Cancellation: none.
    template <class Token = boost::asio::deferred_t>
    auto async_release(Token&& token = {}) {
        return detail::initiate_plain<Token>(lease(), &detail::start_release, token, number_);
    }

    // Renews at once, beside the regular renewals.
    // Handler: void(error_code).
    // Completes when the service has confirmed. `safe_until` is then the request's time plus the
    // ttl, less drift (1 % of the ttl + 2 ms), but at most the end of `max_hold`. Without an answer
    // the request is repeated until the lease ends.
    // Cancellation: none.
    // Errors: lost (the hold has ended).
    template <class Token = default_token>
    auto async_renew(Token&& token = {}) {
        return detail::initiate<Token>(lease(), &detail::start_renew, token);
    }

    // Turns an exclusive hold into a shared one and renews it. No writer gets the lock in between,
    // and the fencing token stays. A shared hold stays as it is.
    // Handler: void(error_code).
    // Completes when the service has confirmed. Without an answer the request is repeated.
    // Cancellation: none.
    // Errors: lost (the hold has ended); bad_option (it has permits); unsupported (the service has
    // no shared locks).
    template <class Token = default_token>
    auto async_downgrade(Token&& token = {}) {
        return detail::initiate<Token>(lease(), &detail::start_downgrade, token);
    }

    // Waits for the loss of the hold.
    // Handler: void(error_code, loss_reason).
    // Completes without an error when the hold is lost, and with `operation_aborted` when it is
    // released first.
    // Cancellation: terminal, partial and total, with `operation_aborted`; the hold stays.
    template <class Token = default_token>
    auto async_wait_lost(Token&& token = {}) {
        return detail::initiate<Token>(lease(), &detail::start_wait_lost, token);
    }

private:
    friend struct core::access;
    held_lock(detail::lease_ptr lease, std::uint32_t number) noexcept
        : held_lock_base(std::move(lease), number) {}
};

}  // namespace pawl
