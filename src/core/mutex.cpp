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
    : locks_(&locks), name_(std::move(name)), options_(options) {}

void recursive_mutex::lock() { lock_for(forever); }

bool recursive_mutex::try_lock() {
    return holds_.enter_again(name_) || holds_.try_acquire(*locks_, name_, options_);
}

bool recursive_mutex::lock_for(duration wait) {
    return holds_.enter_again(name_) || holds_.acquire(*locks_, name_, options_, wait);
}

void recursive_mutex::unlock() noexcept {
    if (auto mine = holds_.leave()) mine.release();
}

}  // namespace pawl::blocking
