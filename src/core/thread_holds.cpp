#include <pawl/thread_holds.hpp>

#include "taking.hpp"

#include <algorithm>
#include <atomic>

namespace pawl::blocking {
namespace {

// Never the same for two threads, also where one has ended before the other began.
std::uint64_t this_thread() noexcept {
    static std::atomic<std::uint64_t> last{0};
    thread_local const auto number = ++last;
    return number;
}

template <class Entries>
auto find_own(Entries& all) {
    return std::find_if(all.begin(), all.end(),
                        [me = this_thread()](const auto& one) { return one.of == me; });
}

}  // namespace

thread_holds::thread_holds(client& locks, std::string name)
    : loop_(locks.loop_), name_(std::move(name)) {}

void thread_holds::keep(held_lock mine, lock_mode mode) {
    const std::lock_guard lock(guard_);
    all_.push_front({this_thread(), std::move(mine), mode});
}

// Readers of one thread stand beside each other.
void thread_holds::refuse_deadlock(lock_mode mode) const {
    const std::lock_guard lock(guard_);
    const auto own = find_own(all_);
    if (own == all_.end() || !own->lock.owns_lock()) return;
    if (mode == lock_mode::shared && own->mode == lock_mode::shared) return;
    throw error(errc::deadlock, "This thread holds '" + name_ +
                                    "' already and would wait for itself; unlock it first, or use "
                                    "a recursive_mutex.");
}

bool thread_holds::try_acquire(const lock_options& options) {
    auto held = blocking::take(loop_, name_, core::to_request(one_try(options)));
    if (!held) return false;
    keep(std::move(held), options.mode);
    return true;
}

bool thread_holds::acquire(lock_options options, duration wait) {
    if (wait == forever) refuse_deadlock(options.mode);
    options.wait = std::max(wait, duration{});
    try {
        keep(blocking::take(loop_, name_, {options, {}}), options.mode);
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

void thread_holds::downgrade() {
    blocking::downgrade(loop_, own_lease());
    const std::lock_guard lock(guard_);
    const auto own = find_own(all_);
    if (own != all_.end()) own->mode = lock_mode::shared;
}

}  // namespace pawl::blocking
