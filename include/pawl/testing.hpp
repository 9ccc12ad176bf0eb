// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// For tests of programs that use Pawl: a lock service in memory whose faults a test chooses, and a
// clock that a test moves. docs/guide/testing-your-code.md. Standard headers only.
#pragma once

#include <pawl/error.hpp>
#include <pawl/service.hpp>
#include <pawl/types.hpp>

#include <memory>
#include <string_view>

namespace pawl::spi {
class runtime;
}

namespace pawl::testing {

// The longest time for `delay` and `advance`.
inline constexpr duration longest_step = std::chrono::hours(24 * 365);

// A new set of locks, all free, in the memory of this process. A fault concerns all clients of the
// service, and lasts until `recover`. Without a fault it is as `memory:`. Copies are the same
// service. Thread-safe; no member waits for a client.
class faulty_service {
public:
    // A service without a fault.
    faulty_service();
    // For clients.
    [[nodiscard]] pawl::service service() const;

    // Each later request fails with this reason: errc::unreachable, as when the server is away;
    // errc::unavailable; errc::refused. Renewals fail, too, so each lease ends after its ttl. Other
    // reasons fail with errc::bad_option.
    void fail(errc reason = errc::unreachable);
    // Each later request is answered after this time: 0 to 365 days, else errc::bad_option. A lease
    // counts from the request, so a delay of more than two thirds of the ttl costs the hold. An
    // acquire fails with errc::unreachable if its wait, or the try_limit of an attempt without a
    // wait, is over before.
    void delay(duration by);
    // No fault any more.
    void recover();

    // Ends all holds of the lock now, and tells their holders; the next waiter gets the lock. The
    // reason is one that a service gives: missing, taken_over, failed_over or forced; others fail
    // with errc::bad_option, and a name that is none with errc::bad_name. A lease expires by `fail`
    // and manual_clock::advance. False: the lock was free. As with a server, a release that comes
    // before the holder is told finds no hold. The reason is then `missing`, or `taken_over` if a
    // waiter has the lock by then.
    bool end_hold(std::string_view name, loss_reason reason = loss_reason::taken_over);
    // Ends all holds, as a failover to a server that has none of them: the reason is `failed_over`.
    // Later tokens are larger.
    void fail_over();

private:
    class definition;
    std::shared_ptr<const definition> definition_;
};

// A clock for client_options::time, so that a test need not wait for a lease to end. Time passes
// only in `advance`, so a client that closes while the service delays its answers waits for the
// drain time to pass: call `recover` first. Use one clock for all clients of a service. It must
// outlive its clients and their handles. Thread-safe.
class manual_clock {
public:
    // The time does not matter; it is the same for each clock.
    manual_clock();
    manual_clock(const manual_clock&) = delete;
    manual_clock& operator=(const manual_clock&) = delete;
    ~manual_clock();

    // For client_options::time.
    [[nodiscard]] spi::runtime* time() noexcept;
    // What `time` shows.
    [[nodiscard]] time_point now() const noexcept;
    // Moves the time forward in one step, and lets the clients act on it: 0 to 365 days, else
    // errc::bad_option. Leases that have ended by then are lost when this returns; the signal of
    // `lost` follows on another thread. No renewal happens within a step. So a step that is longer
    // than a lease ends it (`expired`), whatever its `max_hold`.
    void advance(duration by);

private:
    class clock_runtime;
    const std::unique_ptr<clock_runtime> runtime_;
};

}  // namespace pawl::testing
