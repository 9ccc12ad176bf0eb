// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/blocking/shared_mutex.hpp>

namespace pawl::blocking {

shared_mutex::shared_mutex(client& locks, std::string name, lease_options options)
    : options_(options), holds_(locks, std::move(name)) {}

void shared_mutex::lock() { lock_for(lock_mode::exclusive, forever); }

bool shared_mutex::try_lock() { return try_lock_in_mode(lock_mode::exclusive); }

void shared_mutex::lock_shared() { lock_for(lock_mode::shared, forever); }

bool shared_mutex::try_lock_shared() { return try_lock_in_mode(lock_mode::shared); }

bool shared_mutex::try_lock_in_mode(lock_mode mode) { return holds_.try_acquire(options_, mode); }

bool shared_mutex::lock_for(lock_mode mode, duration wait) {
    return holds_.acquire(options_, mode, wait);
}

void shared_mutex::unlock() noexcept {
    if (auto lock = holds_.remove()) (void)lock.release();
}

void shared_mutex::unlock_shared() noexcept { unlock(); }

void shared_mutex::downgrade() { holds_.downgrade(); }

}  // namespace pawl::blocking
