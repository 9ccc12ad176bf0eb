// A distributed read/write lock in the shape of the standard's, for std::shared_lock and
// std::unique_lock. Standard headers only. The client must outlive it; the service must know
// lock_mode::shared, else every lock throws errc::unsupported.
//
// As with the mutexes: it can be lost, and `unlock` after a loss does nothing and is no error.
#pragma once

#include <pawl/thread_holds.hpp>
#include <pawl/wait_time.hpp>

#include <chrono>
#include <string>

namespace pawl::blocking {

// *SharedLockable*, from any number of threads; not re-entrant. A waiting writer lets no later
// reader pass. The thread that locked it unlocks it. A `lock`, or a `lock_shared` of a writer, in a
// thread that holds it throws errc::deadlock (std::errc::resource_deadlock_would_occur).
class shared_mutex {
public:
    // `options.wait` and `options.mode` are ignored.
    shared_mutex(client& locks, std::string name, lock_options options = {});

    void lock();
    bool try_lock();
    void unlock() noexcept;
    void lock_shared();
    bool try_lock_shared();
    void unlock_shared() noexcept;
    // From exclusive to shared, without letting a writer come between; `unlock_shared` ends it.
    // Throws errc::lost when the hold ended first: then `unlock` it; errc::bad_option where this
    // thread has none.
    void downgrade();

    // Of the calling thread's hold, between lock and unlock. All readers between two writers have
    // one token; a later writer's is larger. In a thread that has no hold the first three throw
    // errc::bad_option, and the handle is empty. `renew` as held_lock's.
    [[nodiscard]] fencing_token token() const { return holds_.held().token(); }
    [[nodiscard]] std::stop_token lost() const { return holds_.held().lost(); }
    void renew() { holds_.renew(); }
    [[nodiscard]] const held_lock& handle() const noexcept { return holds_.mine(); }

protected:
    bool lock_for(lock_mode mode, duration wait);

private:
    bool try_once(lock_mode mode);

    lock_options options_;
    thread_holds holds_;
};

// *SharedTimedLockable*.
class shared_timed_mutex : public shared_mutex {
public:
    using shared_mutex::shared_mutex;

    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_for(lock_mode::exclusive, wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration>& when) {
        return try_lock_for(wait_until_time(when));
    }
    template <class Rep, class Period>
    bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
        return lock_for(lock_mode::shared, wait_time(wait));
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& when) {
        return try_lock_shared_for(wait_until_time(when));
    }
};

}  // namespace pawl::blocking
