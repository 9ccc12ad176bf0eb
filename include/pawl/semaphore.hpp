// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A distributed semaphore, async API. pawl/blocking/semaphore.hpp has the sync API.
#pragma once

#include <pawl/client.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

namespace pawl {

// Permits are leased: those of a holder that dies come back after its ttl. Requests are served in
// order, so requests for few permits cannot starve a request for many. In Redisson's layout there
// is no such order, and its Semaphore has no leases.
//
// Copies are the same semaphore. Thread-safe. Handlers, diagnostics, cancellation and errors as for
// client, and also: unsupported (the service has no permits); bad_option (the service keeps another
// total, or the request is for more permits than the total).
class semaphore : public detail::io_object {
public:
    // Sends no request. `permits` is the total; 0: the total that the service keeps. The object
    // sends its total until the service has accepted it, so a later resize does not disturb running
    // programs.
    semaphore(client& locks, std::string name, std::uint32_t permits, lease_options options = {})
        : io_object(locks),
          total_(detail::make_total(permits)),
          name_(std::move(name)),
          options_(options) {}

    // Acquires 1 or more permits as one handle, or waits in the queue for up to `wait`.
    // Handler: void(error_code, held_lock).
    // Completes when the permits are granted, or the wait is over.
    // Errors: timed_out (the permits were not free in time).
    template <class Token = default_token>
    auto async_acquire(std::uint32_t permits, duration wait, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_permits, token, total_,
                                       name_, options_for(permits, wait), false);
    }
    template <class Token = default_token>
        requires(!std::convertible_to<Token, duration>)
    auto async_acquire(std::uint32_t permits = 1, Token&& token = {}) {
        return async_acquire(permits, forever, std::forward<Token>(token));
    }
    // One attempt.
    // Handler: void(error_code, held_lock).
    // Completes when the service has answered. The handle is empty, without an error, if the
    // permits are not free.
    template <class Token = default_token>
    auto async_try_acquire(std::uint32_t permits = 1, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire_permits, token, total_,
                                       name_, options_for(permits, {}), true);
    }
    // Sets the total for all processes, as client::async_resize.
    // Handler: void(error_code).
    template <class Token = default_token>
    auto async_resize(std::uint32_t permits, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_resize_total, token, total_, name_,
                                       permits);
    }

private:
    [[nodiscard]] lock_options options_for(std::uint32_t permits, duration wait) const {
        return detail::to_lock_options(options_, wait, lock_mode::permits, permits);
    }

    detail::total_ptr total_;
    std::string name_;
    lease_options options_;
};

}  // namespace pawl
