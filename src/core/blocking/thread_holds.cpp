// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/detail/thread_holds.hpp>

#include "acquire.hpp"

#include <algorithm>
#include <atomic>

namespace pawl::blocking {
namespace {

// The number of the calling thread. It is unique in the process, also after the end of a thread.
std::uint64_t this_thread() noexcept {
    static std::atomic<std::uint64_t> last{0};
    thread_local const auto number = ++last;
    return number;
}

template <class Entries>
auto find_own(Entries& entries) {
    return std::find_if(
        entries.begin(), entries.end(),
        [thread = this_thread()](const auto& entry) { return entry.thread == thread; });
}

}  // namespace

thread_holds::thread_holds(client& locks, std::string name)
    : loop_(access::loop_of(locks)), name_(std::move(name)) {}

void thread_holds::keep(held_lock hold, lock_mode mode) {
    const std::lock_guard lock(mutex_);
    entries_.push_front({this_thread(), std::move(hold), mode});
}

// A thread may hold the lock as a reader several times, so only an exclusive hold is a deadlock for
// a reader.
void thread_holds::throw_if_deadlock(lock_mode mode) const {
    const std::lock_guard lock(mutex_);
    const auto position = find_own(entries_);
    if (position == entries_.end() || !position->lock.owns_lock()) return;
    if (mode == lock_mode::shared && position->mode == lock_mode::shared) return;
    throw error(errc::deadlock, "This thread holds '" + name_ +
                                    "' already and would wait for itself; unlock it first, or use "
                                    "a recursive_mutex.");
}

bool thread_holds::try_acquire(const lease_options& options, lock_mode mode) {
    const auto single = detail::to_lock_options(options, {}, mode);
    auto lock = run_acquire(loop_, loop_->engine->acquire(name_, core::request(single, polling{})));
    if (!lock) return false;
    keep(std::move(lock), mode);
    return true;
}

bool thread_holds::acquire(const lease_options& options, lock_mode mode, duration wait) {
    if (wait == forever) throw_if_deadlock(mode);
    const auto waiting = detail::to_lock_options(options, std::max(wait, duration{}), mode);
    try {
        keep(run_acquire(loop_, loop_->engine->acquire(name_, core::request(waiting))), mode);
        return true;
    } catch (const error& e) {
        if (e.reason() == errc::timed_out) return false;
        throw;
    }
}

held_lock thread_holds::remove() noexcept {
    const std::lock_guard lock(mutex_);
    if (entries_.empty()) return {};
    auto position = find_own(entries_);
    if (position == entries_.end()) --position;
    held_lock hold = std::move(position->lock);
    entries_.erase(position);
    return hold;
}

bool thread_holds::reenter() {
    const std::lock_guard lock(mutex_);
    const auto position = find_own(entries_);
    if (position == entries_.end()) return false;
    if (!position->lock.owns_lock())
        throw error(errc::lost, "The lock '" + name_ +
                                    "' was lost while this thread held it; unlock it as often as "
                                    "it was locked, and then lock it again.");
    ++position->depth;
    return true;
}

held_lock thread_holds::leave() noexcept {
    const std::lock_guard lock(mutex_);
    const auto position = find_own(entries_);
    if (position == entries_.end() || --position->depth > 0) return {};
    held_lock hold = std::move(position->lock);
    entries_.erase(position);
    return hold;
}

const held_lock& thread_holds::handle() const noexcept {
    const std::lock_guard lock(mutex_);
    const auto position = find_own(entries_);
    return position == entries_.end() ? empty_handle_ : position->lock;
}

void thread_holds::throw_no_hold() const {
    throw error(errc::not_held,
                "This thread does not hold '" + name_ + "'; call this between lock and unlock.");
}

const held_lock& thread_holds::handle_or_throw() const {
    const auto& own_handle = handle();
    if (!own_handle) throw_no_hold();
    return own_handle;
}

// Returns the lease and not the handle, because another thread may release a semaphore's handle
// meanwhile.
std::shared_ptr<core::lease> thread_holds::own_lease() const {
    const std::lock_guard lock(mutex_);
    const auto position = find_own(entries_);
    if (position == entries_.end()) throw_no_hold();
    return access::lease(position->lock);
}

void thread_holds::renew() { blocking::renew(loop_, own_lease()); }

void thread_holds::downgrade() {
    blocking::downgrade(loop_, own_lease());
    const std::lock_guard lock(mutex_);
    const auto position = find_own(entries_);
    if (position != entries_.end()) position->mode = lock_mode::shared;
}

}  // namespace pawl::blocking
