// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A distributed read/write lock with the interface of std::shared_mutex, for std::shared_lock and
// std::unique_lock. Standard headers only.
//
// The notes of mutex.hpp on threads, errors, lifetime and losses apply here, too. If the service
// has no shared locks, `lock_shared` throws errc::unsupported.
#pragma once

#include <pawl/detail/thread_holds.hpp>
#include <pawl/detail/wait_time.hpp>

#include <chrono>
#include <string>

namespace pawl::blocking {

// *SharedLockable*, for any number of threads. A reader waits behind an earlier writer. Not
// re-entrant: in a thread that holds the mutex, `lock` throws errc::deadlock, and so does
// `lock_shared` in a thread that holds it exclusively. A second `lock_shared` in one thread is not
// detected, and can wait for ever behind a writer.
class shared_mutex {
public:
    // Sends no request.
    shared_mutex(client& locks, std::string name, lease_options options = {});

    // As the standard requires. The tries do not wait.
    void lock();
    bool try_lock();
    void unlock() noexcept;
    void lock_shared();
    bool try_lock_shared();
    void unlock_shared() noexcept;
    // Turns the calling thread's exclusive hold into a shared one; no writer gets the lock in
    // between. Then `unlock_shared` ends the hold. Throws as held_lock::downgrade; the hold is
    // still to be unlocked. Throws errc::not_held in a thread without a hold.
    void downgrade();

    // The calling thread's hold, as the members of held_lock. In a thread without a hold, `handle`
    // is empty and the others throw errc::not_held. The readers from the first one until nobody
    // reads have the same token; a later writer has a larger one.
    [[nodiscard]] fencing_token token() const { return holds_.handle_or_throw().token(); }
    [[nodiscard]] std::stop_token lost() const { return holds_.handle_or_throw().lost(); }
    void renew() { holds_.renew(); }
    [[nodiscard]] const held_lock& handle() const noexcept { return holds_.handle(); }

protected:
    bool lock_for(lock_mode mode, duration wait);

private:
    bool try_lock_in_mode(lock_mode mode);

    lease_options options_;
    thread_holds holds_;
};

// *SharedTimedLockable*. Waits as for timed_mutex.
class shared_timed_mutex : public shared_mutex {
public:
    using shared_mutex::shared_mutex;

    // As `lock` and `lock_shared`, with a limit. False: not in time.
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_for(lock_mode::exclusive, wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return try_lock_for(wait_time_until(when));
    }
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_for(lock_mode::shared, wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& when) {
        return try_lock_shared_for(wait_time_until(when));
    }
};

}  // namespace pawl::blocking
