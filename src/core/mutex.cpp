#include <pawl/mutex.hpp>

namespace pawl::blocking {

mutex::mutex(client& locks, std::string name, lock_options options)
    : locks_(&locks), name_(std::move(name)), options_(options) {}

void mutex::lock() { lock_for(forever); }

bool mutex::try_lock() {
    const try_options once{.ttl = options_.ttl,
                           .max_hold = options_.max_hold,
                           .mode = options_.mode,
                           .fenced = options_.fenced};
    auto held = locks_->try_acquire(name_, once);
    if (!held) return false;
    holds_.keep(std::move(held));
    return true;
}

bool mutex::lock_for(duration wait) {
    auto options = options_;
    options.wait = std::max(wait, duration{});
    try {
        holds_.keep(locks_->acquire(name_, options));
        return true;
    } catch (const error& e) {
        if (e.reason() == errc::timed_out) return false;
        throw;
    }
}

void mutex::unlock() noexcept {
    if (auto mine = holds_.take()) mine.release();
}

recursive_mutex::recursive_mutex(client& locks, std::string name, lock_options options)
    : inner_(locks, std::move(name), options) {}

bool recursive_mutex::nested() {
    const std::lock_guard lock(guard_);
    if (depth_ == 0 || owner_ != std::this_thread::get_id()) return false;
    ++depth_;
    return true;
}

void recursive_mutex::lock() { lock_for(forever); }

bool recursive_mutex::try_lock() { return nested() || entered(inner_.try_lock()); }

bool recursive_mutex::lock_for(duration wait) {
    return nested() || entered(inner_.try_lock_for(wait));
}

bool recursive_mutex::entered(bool yes) {
    if (!yes) return false;
    const std::lock_guard lock(guard_);
    owner_ = std::this_thread::get_id();
    depth_ = 1;
    return true;
}

void recursive_mutex::unlock() noexcept {
    {
        const std::lock_guard lock(guard_);
        if (--depth_ > 0) return;
        owner_ = {};
    }
    inner_.unlock();
}

}  // namespace pawl::blocking
