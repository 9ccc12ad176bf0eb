#include <pawl/shared_mutex.hpp>

#include <algorithm>

namespace pawl::blocking {

shared_mutex::shared_mutex(client& locks, std::string name, lock_options options)
    : locks_(&locks), name_(std::move(name)), options_(options) {}

void shared_mutex::lock() { lock_for(lock_mode::exclusive, forever); }

bool shared_mutex::try_lock() { return try_once(lock_mode::exclusive); }

void shared_mutex::lock_shared() { lock_for(lock_mode::shared, forever); }

bool shared_mutex::try_lock_shared() { return try_once(lock_mode::shared); }

bool shared_mutex::try_once(lock_mode mode) {
    const try_options once{.ttl = options_.ttl,
                           .max_hold = options_.max_hold,
                           .mode = mode,
                           .fenced = options_.fenced};
    auto held = locks_->try_acquire(name_, once);
    if (!held) return false;
    holds_.keep(std::move(held));
    return true;
}

bool shared_mutex::lock_for(lock_mode mode, duration wait) {
    auto options = options_;
    options.mode = mode;
    options.wait = std::max(wait, duration{});
    try {
        holds_.keep(locks_->acquire(name_, options));
        return true;
    } catch (const error& e) {
        if (e.reason() == errc::timed_out) return false;
        throw;
    }
}

void shared_mutex::unlock() noexcept {
    if (auto mine = holds_.take()) mine.release();
}

void shared_mutex::unlock_shared() noexcept { unlock(); }

void shared_mutex::downgrade() {
    auto& mine = holds_.mine();
    if (!mine)
        throw error(errc::bad_option, "This thread does not hold '" + name_ +
                                          "', so it has nothing to downgrade; lock it first.");
    mine.downgrade();
}

}  // namespace pawl::blocking
