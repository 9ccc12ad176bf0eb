// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An implementation detail: the handles behind the mutexes and the blocking semaphore. Standard
// headers only.
#pragma once

#include <pawl/blocking/client.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace pawl::blocking {

// The holds of the threads that use one object. Each thread finds its own newest hold, so a thread
// that lost its hold cannot touch the hold of another. Thread-safe.
class thread_holds {
public:
    thread_holds(client& locks, std::string name);

    // Stores a hold of the calling thread.
    void keep(held_lock hold, lock_mode mode = lock_mode::exclusive);
    // Acquires and stores the lock. False: the lock is taken, or was still taken after `wait`.
    // Throws errc::deadlock if an endless wait would be for a hold of the calling thread.
    bool try_acquire(const lease_options& options, lock_mode mode);
    bool acquire(const lease_options& options, lock_mode mode, duration wait);
    // Removes a hold: the calling thread's newest, else the oldest of another thread. Empty: none.
    [[nodiscard]] held_lock remove() noexcept;
    // Enters the calling thread's hold again. False: the thread has none. Throws errc::lost if the
    // hold has ended.
    bool reenter();
    // Leaves the calling thread's hold, and removes it when the thread leaves it for the last time.
    // Empty: it stays, or there is none.
    [[nodiscard]] held_lock leave() noexcept;
    // The calling thread's hold, valid until it is removed. Empty: none.
    [[nodiscard]] const held_lock& handle() const noexcept;
    // The calling thread's hold. Throws errc::not_held if there is none.
    [[nodiscard]] const held_lock& handle_or_throw() const;
    // As held_lock's functions of the same names. They throw errc::not_held if the calling thread
    // has no hold.
    void renew();
    void downgrade();

private:
    struct entry {
        std::uint64_t thread;  // its number; unlike the system's ids, it is never reused
        held_lock lock;
        lock_mode mode;
        std::size_t depth = 1;  // how often its thread has entered
    };

    [[noreturn]] void throw_no_hold() const;
    void throw_if_deadlock(lock_mode mode) const;
    [[nodiscard]] std::shared_ptr<core::lease> own_lease() const;

    std::shared_ptr<loop> loop_;
    std::string name_;
    mutable std::mutex mutex_;  // of the list
    std::list<entry> entries_;  // the newest first
    held_lock empty_handle_;
};

}  // namespace pawl::blocking
