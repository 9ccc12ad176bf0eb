// Distributed locks in the shape of the standard's mutexes, for std::unique_lock, std::scoped_lock
// and std::lock. Standard headers only. The client must outlive them, and may be moved.
//
// A standard mutex cannot be lost; these can. Work under one should look at `lost` or hand `token`
// to the resource. `unlock` after a loss does nothing and is no error. The thread that locked one
// unlocks it.
#pragma once

#include <pawl/thread_holds.hpp>
#include <pawl/wait_time.hpp>

#include <chrono>
#include <string>

namespace pawl::blocking {

// *Lockable*. One owner at a time, also among the threads of this process; not re-entrant: `lock`
// in a thread that holds it throws errc::deadlock (std::errc::resource_deadlock_would_occur).
class mutex {
public:
    // `options.wait` is ignored.
    mutex(client& locks, std::string name, lock_options options = {});

    void lock();
    bool try_lock();
    void unlock() noexcept;

    // For the owner, between lock and unlock. In a thread that has no hold the first three throw
    // errc::bad_option, and the handle is empty. `renew` as held_lock's.
    [[nodiscard]] fencing_token token() const { return holds_.held().token(); }
    [[nodiscard]] std::stop_token lost() const { return holds_.held().lost(); }
    void renew() { holds_.renew(); }
    [[nodiscard]] const held_lock& handle() const noexcept { return holds_.mine(); }

protected:
    bool lock_for(duration wait);

private:
    lock_options options_;
    thread_holds holds_;  // several after a loss: another thread may have it by then
};

// *TimedLockable*.
class timed_mutex : public mutex {
public:
    using mutex::mutex;

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_for(wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return lock_for(wait_until_time(when));
    }
};

// *TimedLockable*, re-entrant per thread: a nested lock costs no round trip and has the same token.
// After a loss a nested lock, or a try of one, throws errc::lost, until the thread has unlocked as
// often as it had locked; another thread may have the lock by then.
class recursive_mutex {
public:
    recursive_mutex(client& locks, std::string name, lock_options options = {});

    void lock();
    bool try_lock();
    void unlock() noexcept;
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_for(wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return lock_for(wait_until_time(when));
    }

    // As those of `mutex`.
    [[nodiscard]] fencing_token token() const { return holds_.held().token(); }
    [[nodiscard]] std::stop_token lost() const { return holds_.held().lost(); }
    void renew() { holds_.renew(); }
    [[nodiscard]] const held_lock& handle() const noexcept { return holds_.mine(); }

private:
    bool lock_for(duration wait);

    lock_options options_;
    thread_holds holds_;  // several after a loss, each as deep as its thread is
};

}  // namespace pawl::blocking
