// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_guarded.hpp"

#include <pawl/error.hpp>

#include <utility>

namespace pawl::guard {

boost::asio::awaitable<std::optional<held_lock>> async_acquire_in_front(
    client& locks, std::string name, const once_options& options) {
    if (!uses(options, layers::lock)) co_return held_lock();
    try {
        held_lock lock = co_await locks.async_acquire(std::move(name), lock_options_of(options));
        co_return lock;
    } catch (const error& refused) {
        if (refused.reason() != errc::timed_out) throw;
    }
    co_return std::nullopt;
}

}  // namespace pawl::guard
