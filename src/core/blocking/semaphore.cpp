// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/blocking/semaphore.hpp>

#include "../engine/semaphore.hpp"
#include "acquire.hpp"

#include <algorithm>

namespace pawl::blocking {

semaphore::semaphore(client& locks, std::string name, std::uint32_t permits, lease_options options)
    : loop_(access::loop_of(locks)),
      name_(name),
      options_(options),
      total_(std::make_shared<core::semaphore_total>(core::semaphore_total{.permits = permits})),
      holds_(locks, std::move(name)) {}

held_lock semaphore::request_permits(std::uint32_t permits, duration wait, bool single_attempt,
                                     const std::stop_token& cancel) {
    const auto options = detail::to_lock_options(options_, wait, lock_mode::permits, permits);
    return run_acquire(loop_,
                       core::acquire_permits(loop_->engine, total_, name_, options, single_attempt),
                       cancel);
}

held_lock semaphore::acquire_permits(std::uint32_t permits, duration wait, std::stop_token cancel) {
    return request_permits(permits, wait, false, cancel);
}

held_lock semaphore::try_acquire_permits(std::uint32_t permits) {
    return request_permits(permits, {}, true, {});
}

void semaphore::acquire() { acquire_for(forever); }

bool semaphore::try_acquire() {
    auto lock = try_acquire_permits();
    if (!lock) return false;
    holds_.keep(std::move(lock));
    return true;
}

bool semaphore::acquire_for(duration wait) {
    try {
        holds_.keep(acquire_permits(1, std::max(wait, duration{})));
        return true;
    } catch (const error& e) {
        if (e.reason() == errc::timed_out) return false;
        throw;
    }
}

void semaphore::release() noexcept {
    if (auto lock = holds_.remove()) (void)lock.release();
}

void semaphore::resize(std::uint32_t permits) {
    (void)run_blocking(*loop_, core::resize(loop_->engine, total_, name_, permits));
}

}  // namespace pawl::blocking
