#include <pawl/mutex.hpp>

namespace pawl::blocking {

mutex::mutex(client& locks, std::string name, lock_options options)
    : locks_(&locks), name_(std::move(name)), options_(options) {}

void mutex::lock() { lock_for(forever); }

bool mutex::try_lock() { return holds_.try_acquire(*locks_, name_, options_); }

bool mutex::lock_for(duration wait) { return holds_.acquire(*locks_, name_, options_, wait); }

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
