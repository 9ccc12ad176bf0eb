// The doors to time, chance and the threads that call users back. Nothing in Pawl reads a clock or
// a random source elsewhere, so a test that replaces these (and the transport) replays a run
// exactly.
#pragma once

#include <pawl/asio_settings.hpp>
#include <pawl/types.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <stop_token>

namespace pawl {

// One pending wait at a time. Not thread-safe: used on the executor that it was made for.
class timer {
public:
    using handler = boost::asio::any_completion_handler<void(boost::system::error_code)>;

    virtual ~timer() = default;
    // Completes without error at `when`, with `operation_aborted` after `cancel`, never inside this
    // call.
    virtual void async_wait_until(time_point when, handler done) = 0;
    virtual void cancel() = 0;
};

class runtime {
public:
    virtual ~runtime() = default;
    [[nodiscard]] virtual time_point now() const noexcept = 0;
    // For people to read; never for a decision.
    [[nodiscard]] virtual std::chrono::system_clock::time_point wall() const noexcept = 0;
    [[nodiscard]] virtual std::unique_ptr<timer> make_timer(
        const boost::asio::any_io_executor& on) = 0;
    virtual void random(std::span<std::byte> fill) = 0;
    // True where time passes by itself, so that a thread may watch leases whose event loop is
    // stuck.
    [[nodiscard]] virtual bool passes_by_itself() const noexcept = 0;
    // Stops the sources, where a callback that blocks delays nothing else, and does not wait for
    // it. By default on threads that only do this.
    virtual void notify_losses(std::list<std::stop_source> lost) noexcept;
};

// CLOCK_BOOTTIME, Asio's timers, getrandom(2). One for the whole process; thread-safe.
runtime& real_runtime() noexcept;

}  // namespace pawl
