#include <pawl/thread_holds.hpp>

#include "taking.hpp"

#include <algorithm>

namespace pawl::blocking {
namespace {

template <class Entries>
auto find_own(Entries& all) {
    return std::find_if(all.begin(), all.end(), [me = std::this_thread::get_id()](const auto& one) {
        return one.of == me;
    });
}

}  // namespace

thread_holds::thread_holds(client& locks, std::string name)
    : loop_(locks.loop_), name_(std::move(name)) {}

void thread_holds::keep(held_lock mine) {
    const std::lock_guard lock(guard_);
    all_.push_front({std::this_thread::get_id(), std::move(mine)});
}

bool thread_holds::try_acquire(const lock_options& options) {
    auto held = blocking::take(loop_, name_, core::to_request(one_try(options)));
    if (!held) return false;
    keep(std::move(held));
    return true;
}

bool thread_holds::acquire(lock_options options, duration wait) {
    options.wait = std::max(wait, duration{});
    try {
        keep(blocking::take(loop_, name_, {options, {}}));
        return true;
    } catch (const error& e) {
        if (e.reason() == errc::timed_out) return false;
        throw;
    }
}

held_lock thread_holds::take() noexcept {
    const std::lock_guard lock(guard_);
    if (all_.empty()) return {};
    auto found = find_own(all_);
    if (found == all_.end()) --found;
    held_lock mine = std::move(found->lock);
    all_.erase(found);
    return mine;
}

bool thread_holds::enter_again() {
    const std::lock_guard lock(guard_);
    const auto found = find_own(all_);
    if (found == all_.end()) return false;
    if (!found->lock.owns_lock())
        throw error(errc::lost, "The lock '" + name_ +
                                    "' was lost while this thread held it; unlock it as often as "
                                    "it was locked before it asks again.");
    ++found->depth;
    return true;
}

held_lock thread_holds::leave() noexcept {
    const std::lock_guard lock(guard_);
    const auto found = find_own(all_);
    if (found == all_.end() || --found->depth > 0) return {};
    held_lock mine = std::move(found->lock);
    all_.erase(found);
    return mine;
}

const held_lock& thread_holds::mine() const noexcept {
    const std::lock_guard lock(guard_);
    const auto found = find_own(all_);
    return found == all_.end() ? none_ : found->lock;
}

void thread_holds::refuse() const {
    throw error(errc::bad_option,
                "This thread does not hold '" + name_ + "'; ask between its lock and unlock.");
}

const held_lock& thread_holds::held() const {
    const auto& own = mine();
    if (!own) refuse();
    return own;
}

// Not the handle: a semaphore's may be released by another thread meanwhile.
std::shared_ptr<core::lease> thread_holds::own_lease() const {
    const std::lock_guard lock(guard_);
    const auto found = find_own(all_);
    if (found == all_.end()) refuse();
    return found->lock.lease_;
}

void thread_holds::renew() { blocking::renew(loop_, own_lease()); }

void thread_holds::downgrade() { blocking::downgrade(loop_, own_lease()); }

}  // namespace pawl::blocking
