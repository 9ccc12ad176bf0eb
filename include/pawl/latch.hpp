// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Distributed latches and barriers, async API. pawl/blocking/latch.hpp has the sync API.
//
// A latch has no owner and no lease. A participant that dies leaves the count unchanged, so set a
// limit for each wait. A latch ends when it is not changed for `latch_options::ttl`.
#pragma once

#include <pawl/client.hpp>
#include <pawl/latch_options.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace pawl {

// A counter that releases its waiters when it reaches 0. Then it can be set again; each setting is
// a generation. Thread-safe. Handlers, diagnostics, cancellation and errors as for client; a step
// that was cancelled may have been counted.
//
// Errors of every operation: unsupported (the service has no latches). Of `async_count_down`,
// `async_try_wait`, `async_wait` and `async_arrive_and_wait`: lost (the service does not know the
// latch: it was never set, was reset, or is forgotten, after its ttl or in a restart of the
// service; in Redisson's layout, such a latch counts as at 0).
class latch : public detail::io_object {
public:
    // Sends no request.
    latch(client& locks, std::string name, latch_options options = {})
        : io_object(locks), name_(std::move(name)), options_(options) {}

    // Sets the count, 1 or more.
    // Handler: void(error_code, bool).
    // Completes when the service has answered. False: the latch is counting.
    // Errors: bad_option (the count is 0, or the ttl is out of range).
    template <class Token = default_token>
    auto async_try_set(std::uint32_t count, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_set_latch, token, name_, count,
                                       options_);
    }

    // Subtracts 1 or more steps, to 0 at the least.
    // Handler: void(error_code, std::uint64_t), with the remaining count.
    // Completes when the service has confirmed. The step counts once, also when the connection
    // breaks.
    // Errors: unreachable (the step counted once or not at all, and no answer says which).
    template <class Token = default_token>
    auto async_count_down(std::uint32_t steps = 1, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_count_down, token, name_, steps);
    }

    // Handler: void(error_code, bool).
    // Completes when the service has answered. True: the count is 0.
    template <class Token = default_token>
    auto async_try_wait(Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_try_wait, token, name_);
    }

    // Waits for the count 0. Waits while the service is away, too.
    // Handler: void(error_code).
    // Completes when the present generation has reached 0, also if the latch was set again at once.
    // Errors: timed_out (not within `wait`, which is 0 or more).
    template <class Token = default_token>
    auto async_wait(duration wait = forever, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_wait_latch, token, name_, phase{},
                                       wait);
    }

    // Subtracts one step, then waits as `async_wait`. The step stays counted when the wait fails or
    // is cancelled.
    // Handler: void(error_code).
    template <class Token = default_token>
    auto async_arrive_and_wait(duration wait = forever, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_count_down_and_wait, token, name_,
                                       wait);
    }

    // The state, for display only. An unknown latch is no error.
    // Handler: void(error_code, latch_info).
    // Completes when the service has answered.
    template <class Token = default_token>
    auto async_inspect(Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_inspect_latch, token, name_);
    }

    // Removes the latch. Its waiters get errc::lost, or success in Redisson's layout.
    // Handler: void(error_code, bool).
    // Completes when the service has answered. False: the latch did not exist.
    template <class Token = default_token>
    auto async_reset(Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_reset_latch, token, name_);
    }

private:
    std::string name_;
    latch_options options_;
};

// A barrier for a number of parties that wait for each other, phase after phase. The first arrival
// begins the first phase. The last arrival of a phase releases all parties, and begins the next
// phase in the same step.
//
// Errors of `async_arrive` and `async_arrive_and_wait`: bad_option (another party gave another
// number of parties, or a latch of this name is counting). Of every operation: unsupported (the
// service has no barriers, as in Redisson's layout). Otherwise as latch.
class barrier : public detail::io_object {
public:
    // Sends no request. `parties` is 1 or more.
    barrier(client& locks, std::string name, std::uint32_t parties, latch_options options = {})
        : io_object(locks), name_(std::move(name)), parties_(parties), options_(options) {}

    // Arrives. The arrival counts once, as a latch's step, and stays counted if the party never
    // waits or gives up waiting.
    // Handler: void(error_code, phase), with the phase.
    // Completes when the service has confirmed.
    template <class Token = default_token>
    auto async_arrive(Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_arrive, token, name_, parties_,
                                       options_);
    }

    // Waits for the end of a phase.
    // Handler: void(error_code).
    // Completes when all parties have arrived in that phase.
    // Errors: timed_out (not within `wait`, which is 0 or more).
    template <class Token = default_token>
    auto async_wait(phase arrival, duration wait = forever, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_wait_latch, token, name_, arrival,
                                       wait);
    }

    // Arrives, then waits for the others.
    // Handler: void(error_code).
    template <class Token = default_token>
    auto async_arrive_and_wait(duration wait = forever, Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_arrive_and_wait, token, name_,
                                       parties_, options_, wait);
    }

    // As latch's functions of the same names.
    template <class Token = default_token>
    auto async_inspect(Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_inspect_latch, token, name_);
    }
    template <class Token = default_token>
    auto async_reset(Token&& token = {}) {
        return detail::initiate<Token>(engine_, &detail::start_reset_latch, token, name_);
    }

private:
    std::string name_;
    std::uint32_t parties_;
    latch_options options_;
};

}  // namespace pawl
