#include <pawl/blocking_semaphore.hpp>

#include "question.hpp"
#include "semaphore.hpp"

#include <algorithm>

namespace pawl::blocking {

semaphore::semaphore(client& locks, std::string name, std::uint32_t permits, lock_options options)
    : loop_(locks.loop_),
      name_(name),
      options_(options),
      count_(std::make_shared<core::permit_count>(core::permit_count{.all = permits})),
      holds_(locks, std::move(name)) {}

held_lock semaphore::ask_for(std::uint32_t permits, duration wait, bool once,
                             const std::stop_token& cancel) {
    auto options = options_;
    options.wait = wait;
    options.permits = permits;
    auto mine =
        ask(*loop_, core::take_permits(loop_->engine, count_, name_, options, once), cancel);
    return {std::move(mine.what), mine.handle, loop_};
}

held_lock semaphore::take(std::uint32_t permits, duration wait, std::stop_token cancel) {
    return ask_for(permits, wait, false, cancel);
}

held_lock semaphore::try_take(std::uint32_t permits) { return ask_for(permits, {}, true, {}); }

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
    (void)ask(*loop_, core::resize(loop_->engine, count_, name_, permits));
}

}  // namespace pawl::blocking
