// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Distributed latches and barriers for threads, with the names of std::latch and std::barrier.
// Standard headers only.
//
// A latch has no owner and no lease. A participant that dies leaves the count unchanged, so set a
// limit for each wait. A latch ends when it is not changed for `latch_options::ttl`.
#pragma once

#include <pawl/blocking/client.hpp>
#include <pawl/detail/wait_time.hpp>
#include <pawl/latch_options.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace pawl::blocking {

// A counter that releases its waiters when it reaches 0. Then it can be set again; each setting is
// a generation. Thread-safe; the client must outlive the latch. Errors as for client, and
// errc::cancelled when `cancel` is stopped.
//
// errc::lost, from `count_down`, `try_wait` and the functions that wait: the service does not know
// the latch. It was never set, was reset, or is forgotten, after its ttl or in a restart of the
// service. In Redisson's layout, such a latch counts as at 0. errc::unsupported: the service has
// no latches.
class latch {
public:
    // Sends no request.
    latch(client& locks, std::string name, latch_options options = {});

    // Sets the count, 1 or more. False: the latch is counting.
    bool try_set(std::uint32_t count);
    // Subtracts 1 or more steps, to 0 at the least, and returns the remaining count. The step
    // counts once, also when the connection breaks. errc::unreachable: it counted once or not at
    // all, and no answer says which.
    std::uint64_t count_down(std::uint32_t steps = 1);
    // True: the count is 0.
    [[nodiscard]] bool try_wait();
    // Returns when the present generation has reached 0, also if the latch was set again at once.
    // Waits while the service is away, too.
    void wait(std::stop_token cancel = {});
    // As `wait`, with a limit. False: not in time.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period>& wait,
                                std::stop_token cancel = {}) {
        return wait_with_limit(wait_time(wait), std::move(cancel));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration>& when,
                                  std::stop_token cancel = {}) {
        return wait_for(wait_time_until(when), std::move(cancel));
    }
    // Subtracts one step, then waits. The step stays counted when the wait fails or is cancelled.
    void arrive_and_wait(std::stop_token cancel = {});

    // An unknown latch is no error.
    [[nodiscard]] latch_info inspect();
    // Removes the latch. Its waiters get errc::lost, or success in Redisson's layout. False: the
    // latch did not exist.
    bool reset();

private:
    bool wait_with_limit(duration wait, std::stop_token cancel);

    std::shared_ptr<loop> loop_;
    std::string name_;
    latch_options options_;
};

// A barrier for a number of parties that wait for each other, phase after phase. The first arrival
// begins the first phase. The last arrival of a phase releases all parties, and begins the next
// phase in the same step. errc::bad_option, from `arrive` and `arrive_and_wait`: another party gave
// another number of parties, or a latch of this name is counting. errc::unsupported: the service
// has no barriers, as in Redisson's layout. Otherwise as a latch.
class barrier {
public:
    // Sends no request. `parties` is 1 or more.
    barrier(client& locks, std::string name, std::uint32_t parties, latch_options options = {});

    // Arrives, and returns the phase. The arrival counts once, as a latch's step, and stays counted
    // if the party never waits or gives up waiting.
    [[nodiscard]] phase arrive();
    // Returns when all parties have arrived in that phase.
    void wait(phase arrival, std::stop_token cancel = {});
    // As `wait`, with a limit. False: not in time.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(phase arrival, const std::chrono::duration<Rep, Period>& wait,
                                std::stop_token cancel = {}) {
        return wait_with_limit(arrival, wait_time(wait), std::move(cancel));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool wait_until(phase arrival,
                                  const std::chrono::time_point<Clock, Duration>& when,
                                  std::stop_token cancel = {}) {
        return wait_for(arrival, wait_time_until(when), std::move(cancel));
    }
    // Arrives, then waits for the others.
    void arrive_and_wait(std::stop_token cancel = {}) { wait(arrive(), std::move(cancel)); }

    // As latch's functions of the same names.
    [[nodiscard]] latch_info inspect();
    bool reset();

private:
    bool wait_with_limit(phase arrival, duration wait, std::stop_token cancel);

    std::shared_ptr<loop> loop_;
    std::string name_;
    std::uint32_t parties_;
    latch_options options_;
};

}  // namespace pawl::blocking
