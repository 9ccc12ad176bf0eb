#include <pawl/semaphore.hpp>

#include <algorithm>

namespace pawl::blocking {

namespace {

bool is_known(const lock_info& what) { return what.permits != 0 || what.free_permits; }

}  // namespace

semaphore::semaphore(client& locks, std::string name, std::uint32_t permits, lock_options options)
    : locks_(&locks), name_(std::move(name)), options_(options), all_(permits) {
    options_.mode = lock_mode::permits;
}

// How many there are is said until it was heard once: a later resize, by anybody, then disturbs
// nobody. It is said again to a service that has forgotten.
template <class Ask>
held_lock semaphore::ask_for(std::uint32_t permits, Ask ask) {
    auto options = options_;
    options.permits = permits;
    if (said_) {
        options.of = 0;
        try {
            return ask(options);
        } catch (const error& e) {
            if (e.reason() != errc::bad_option || is_known(locks_->inspect(name_))) throw;
        }
    }
    options.of = all_;
    try {
        auto held = ask(options);
        said_ = true;
        return held;
    } catch (const error& e) {
        if (e.reason() == errc::timed_out) said_ = true;
        throw;
    }
}

held_lock semaphore::take(std::uint32_t permits, duration wait, std::stop_token cancel) {
    return ask_for(permits, [&](lock_options options) {
        options.wait = wait;
        return locks_->acquire(name_, options, cancel);
    });
}

held_lock semaphore::try_take(std::uint32_t permits) {
    return ask_for(permits, [&](const lock_options& options) {
        return locks_->try_acquire(name_, one_try(options));
    });
}

void semaphore::acquire() { acquire_for(forever); }

bool semaphore::try_acquire() {
    auto held = try_take();
    if (!held) return false;
    holds_.keep(std::move(held));
    return true;
}

bool semaphore::acquire_for(duration wait) {
    try {
        holds_.keep(take(1, std::max(wait, duration{})));
        return true;
    } catch (const error& e) {
        if (e.reason() == errc::timed_out) return false;
        throw;
    }
}

void semaphore::release() noexcept {
    if (auto mine = holds_.take()) mine.release();
}

void semaphore::resize(std::uint32_t permits) {
    locks_->resize(name_, permits);
    all_ = permits;
    said_ = true;
}

}  // namespace pawl::blocking
