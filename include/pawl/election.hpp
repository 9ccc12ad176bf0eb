// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Leader election by a lock, async API. pawl/blocking/election.hpp has the sync API.
#pragma once

#include <pawl/client.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <utility>

namespace pawl {

// Candidates campaign for the lock of one name; its holder leads. The handle is the term: `token`
// is its number, which only grows and which the resource checks; `lost` reports its end;
// `async_release` resigns. Leave `options.fenced` true: without tokens, changes cannot be seen.
// Thread-safe. Handlers, diagnostics, cancellation and errors as for client.
class election : public detail::io_object {
public:
    // Sends no request. `options.max_hold` limits a term.
    election(client& locks, std::string name, lease_options options = {})
        : io_object(locks), name_(std::move(name)), options_(options) {}

    // Campaigns, as client::async_acquire: the strict order of candidates needs `options.fair`.
    // Without it, on Redis, a leader that resigns may be followed by candidates of its own client,
    // ahead of others that wait longer, for a limited number of terms.
    // Handler: void(error_code, held_lock).
    // Completes when this candidate leads, or `wait` is over.
    // Errors: timed_out (this candidate did not lead in time).
    template <class Token = default_token>
    auto async_campaign(duration wait, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_acquire, token, nullptr, name_,
                                       detail::to_lock_options(options_, wait), std::nullopt);
    }
    template <class Token = default_token>
        requires(!std::convertible_to<Token, duration>)
    auto async_campaign(Token&& token = {}) {
        return async_campaign(forever, std::forward<Token>(token));
    }

    // The present leader, for display only.
    // Handler: void(error_code, lock_info).
    // Completes when the service has answered.
    template <class Token = default_token>
    auto async_leader(Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_inspect, token, name_);
    }

    // Waits for another term than `seen`. The empty token means no leader, so the default waits for
    // any leader.
    // Handler: void(error_code, lock_info).
    // Completes when an inspection finds another term. There is an inspection every `interval`, 1
    // ms or more: it can miss a short term, but not the newest.
    // Errors: bad_option (the interval is too short). An error of the service ends the wait.
    template <class Token = default_token>
    auto async_wait_change(fencing_token seen = {}, duration interval = std::chrono::seconds(1),
                           Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_wait_change, token, name_, seen,
                                       interval);
    }

private:
    std::string name_;
    lease_options options_;
};

}  // namespace pawl
