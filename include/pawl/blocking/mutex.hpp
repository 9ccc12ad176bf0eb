// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Distributed locks with the interface of the standard mutexes, for std::unique_lock,
// std::scoped_lock and std::lock. Standard headers only.
//
// Thread-safe. The client must outlive the mutexes, and may be moved. Locking throws what the
// client's acquire throws, but a time-out returns false. `unlock` waits for the service's answer.
// The thread that locked a mutex unlocks it.
//
// Unlike a standard mutex, these can be lost. Work under one checks `lost`, or passes `token` to
// the resource. `unlock` after a loss does nothing and is no error.
#pragma once

#include <pawl/detail/thread_holds.hpp>
#include <pawl/detail/wait_time.hpp>

#include <chrono>
#include <string>

namespace pawl::blocking {

// *Lockable*. Not re-entrant: in a thread that holds the mutex, `lock` throws errc::deadlock, and
// `try_lock` returns false.
class mutex {
public:
    // Sends no request.
    mutex(client& locks, std::string name, lease_options options = {});

    // As the standard requires. `try_lock` does not wait.
    void lock();
    bool try_lock();
    void unlock() noexcept;

    // The calling thread's hold, as the members of held_lock. In a thread without a hold, `handle`
    // is empty and the others throw errc::not_held.
    [[nodiscard]] fencing_token token() const { return holds_.handle_or_throw().token(); }
    [[nodiscard]] std::stop_token lost() const { return holds_.handle_or_throw().lost(); }
    void renew() { holds_.renew(); }
    [[nodiscard]] const held_lock& handle() const noexcept { return holds_.handle(); }

protected:
    bool lock_for(duration wait);

private:
    lease_options options_;
    thread_holds holds_;  // several after a loss: another thread may have the lock by then
};

// *TimedLockable*. A wait of 146 years or more is endless, and checks for a deadlock as `lock`
// does.
class timed_mutex : public mutex {
public:
    using mutex::mutex;

    // As `lock`, with a limit. False: not in time.
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_for(wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return lock_for(wait_time_until(when));
    }
};

// *TimedLockable*, re-entrant per thread: a nested lock sends no request and has the same token.
// After a loss, nested locks and tries throw errc::lost until the thread has unlocked as often as
// it had locked. Another thread may have the lock by then. `unlock` in a thread without a hold does
// nothing.
class recursive_mutex {
public:
    // Sends no request.
    recursive_mutex(client& locks, std::string name, lease_options options = {});

    // As the standard requires. `try_lock` does not wait.
    void lock();
    bool try_lock();
    void unlock() noexcept;
    // As `lock`, with a limit. False: not in time.
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_for(wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return lock_for(wait_time_until(when));
    }

    // As the members of `mutex`.
    [[nodiscard]] fencing_token token() const { return holds_.handle_or_throw().token(); }
    [[nodiscard]] std::stop_token lost() const { return holds_.handle_or_throw().lost(); }
    void renew() { holds_.renew(); }
    [[nodiscard]] const held_lock& handle() const noexcept { return holds_.handle(); }

private:
    bool lock_for(duration wait);

    lease_options options_;
    thread_holds holds_;  // several after a loss, each with the depth of its thread
};

}  // namespace pawl::blocking
