// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A distributed semaphore for threads, with the interface of std::counting_semaphore.
// pawl/semaphore.hpp has the async API. Standard headers only.
#pragma once

#include <pawl/detail/thread_holds.hpp>
#include <pawl/detail/wait_time.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace pawl::core {
struct semaphore_total;
}

namespace pawl::blocking {

// Permits are leased: those of a holder that dies come back after its ttl. Requests are served in
// order, so requests for few permits cannot starve a request for many. In Redisson's layout there
// is no such order, and its Semaphore has no leases.
// Acquires throw what the client's acquire throws. errc::unsupported: the service has no permits.
// Thread-safe; the client must outlive the semaphore.
class semaphore {
public:
    // Sends no request. `permits` is the total; 0: the total that the service keeps. If the service
    // keeps another total, the first acquire throws errc::bad_option.
    semaphore(client& locks, std::string name, std::uint32_t permits, lease_options options = {});

    // Acquire one permit, which `release` returns. False: none was free, or none in time.
    void acquire();
    bool try_acquire();
    template <class Rep, class Period>
    bool try_acquire_for(const std::chrono::duration<Rep, Period>& wait) {
        return acquire_for(wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) {
        return try_acquire_for(wait_time_until(when));
    }
    // Releases one permit of this object: the newest of the calling thread, else the oldest of
    // another thread. A lost permit counts, too. Without a permit it does nothing. Waits for the
    // service's answer.
    void release() noexcept;

    // The calling thread's newest permit, as the members of held_lock. In a thread without a
    // permit, `handle` is empty and the others throw errc::not_held.
    [[nodiscard]] fencing_token token() const { return holds_.handle_or_throw().token(); }
    [[nodiscard]] std::stop_token lost() const { return holds_.handle_or_throw().lost(); }
    void renew() { holds_.renew(); }
    [[nodiscard]] const held_lock& handle() const noexcept { return holds_.handle(); }

    // Acquire 1 or more permits as one handle, as the client's acquire and try_acquire. `release`
    // does not return these permits.
    held_lock acquire_permits(std::uint32_t permits = 1, duration wait = forever,
                              std::stop_token cancel = {});
    held_lock try_acquire_permits(std::uint32_t permits = 1);

    // Sets the total for all processes, as client::resize.
    void resize(std::uint32_t permits);

private:
    held_lock request_permits(std::uint32_t permits, duration wait, bool single_attempt,
                              const std::stop_token& cancel);
    bool acquire_for(duration wait);

    std::shared_ptr<loop> loop_;
    std::string name_;
    lease_options options_;
    std::shared_ptr<core::semaphore_total> total_;
    thread_holds holds_;
};

}  // namespace pawl::blocking
