#include <pawl/mutex.hpp>

namespace pawl::blocking {

mutex::mutex(client& locks, std::string name, lock_options options)
    : options_(options), holds_(locks, std::move(name)) {}

void mutex::lock() { lock_for(forever); }

bool mutex::try_lock() { return holds_.try_acquire(options_); }

bool mutex::lock_for(duration wait) { return holds_.acquire(options_, wait); }

void mutex::unlock() noexcept {
    if (auto mine = holds_.take()) mine.release();
}

recursive_mutex::recursive_mutex(client& locks, std::string name, lock_options options)
    : options_(options), holds_(locks, std::move(name)) {}

void recursive_mutex::lock() { lock_for(forever); }

bool recursive_mutex::try_lock() { return holds_.enter_again() || holds_.try_acquire(options_); }

bool recursive_mutex::lock_for(duration wait) {
    return holds_.enter_again() || holds_.acquire(options_, wait);
}

void recursive_mutex::unlock() noexcept {
    if (auto mine = holds_.leave()) mine.release();
}

}  // namespace pawl::blocking
