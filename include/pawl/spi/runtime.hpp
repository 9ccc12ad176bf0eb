// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The sources of time and random numbers, and the threads for callbacks. Pawl uses no other clock
// and no other random source, so a test that replaces these, and the transport, repeats a run
// exactly.
#pragma once

#include <pawl/detail/asio_settings.hpp>
#include <pawl/types.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <stop_token>

namespace pawl::spi {

// A timer with one pending wait at a time. Not thread-safe: used on the executor that it was made
// for.
class timer {
public:
    // The type-erased handler of a wait.
    using wait_handler = boost::asio::any_completion_handler<void(boost::system::error_code)>;

    virtual ~timer() = default;
    // Handler: void(error_code). Completes without error at `when`, or with `operation_aborted`
    // after `cancel`. The handler is never called inside this function.
    virtual void async_wait_until(time_point when, wait_handler handler) = 0;
    // Ends the pending wait, if there is one.
    virtual void cancel() = 0;
};

// Any thread may call its members.
class runtime {
public:
    virtual ~runtime() = default;
    // The boot clock. It never goes back.
    [[nodiscard]] virtual time_point now() const noexcept = 0;
    // The wall clock. For display, for a holder's `since`, and as the lower bound of new tokens;
    // never for the end of a lease or a wait.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall_clock() const noexcept = 0;
    // A timer whose handlers run on the executor.
    [[nodiscard]] virtual std::unique_ptr<timer> make_timer(
        const boost::asio::any_io_executor& executor) = 0;
    // Fills the bytes with unpredictable random numbers. Owners are made of them.
    virtual void random(std::span<std::byte> bytes) = 0;
    // True if time passes by itself, as in the real runtime. Then a thread watches the leases, in
    // case their event loop is stuck.
    [[nodiscard]] virtual bool is_real_time() const noexcept = 0;
    // Stops the sources, and does not wait for their callbacks. A callback that blocks must not
    // delay other losses. The default uses threads that do nothing else.
    virtual void notify_losses(std::list<std::stop_source> sources) noexcept;
};

// CLOCK_BOOTTIME, Asio's timers and getrandom(2). One object for the process; thread-safe.
runtime& real_runtime() noexcept;

}  // namespace pawl::spi
