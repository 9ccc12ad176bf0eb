// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/blocking/mutex.hpp>

namespace pawl::blocking {

mutex::mutex(client& locks, std::string name, lease_options options)
    : options_(options), holds_(locks, std::move(name)) {}

void mutex::lock() { lock_for(forever); }

bool mutex::try_lock() { return holds_.try_acquire(options_, lock_mode::exclusive); }

bool mutex::lock_for(duration wait) { return holds_.acquire(options_, lock_mode::exclusive, wait); }

void mutex::unlock() noexcept {
    if (auto lock = holds_.remove()) (void)lock.release();
}

recursive_mutex::recursive_mutex(client& locks, std::string name, lease_options options)
    : options_(options), holds_(locks, std::move(name)) {}

void recursive_mutex::lock() { lock_for(forever); }

bool recursive_mutex::try_lock() {
    return holds_.reenter() || holds_.try_acquire(options_, lock_mode::exclusive);
}

bool recursive_mutex::lock_for(duration wait) {
    return holds_.reenter() || holds_.acquire(options_, lock_mode::exclusive, wait);
}

void recursive_mutex::unlock() noexcept {
    if (auto lock = holds_.leave()) (void)lock.release();
}

}  // namespace pawl::blocking
