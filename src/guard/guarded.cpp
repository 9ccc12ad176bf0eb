// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "guarded.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <utility>

namespace pawl::guard {

bool uses(const once_options& options, layers layer) noexcept {
    return (static_cast<unsigned>(options.with) & static_cast<unsigned>(layer)) != 0;
}

lock_options lock_options_of(const once_options& options) {
    lock_options lock;
    if (options.lease != duration{}) lock.ttl = options.lease;
    lock.wait = options.wait;
    return lock;
}

std::optional<blocking::held_lock> acquire_in_front(blocking::client& locks, std::string_view name,
                                                    const once_options& options,
                                                    const std::stop_token& cancel) {
    if (!uses(options, layers::lock)) return blocking::held_lock();
    try {
        return locks.acquire(name, lock_options_of(options), cancel);
    } catch (const error& refused) {
        if (refused.reason() != errc::timed_out) throw;
    }
    return std::nullopt;
}

// When its holder ends is unknown; the lock of a holder that has died ends within its ttl.
once_result busy_result(const once_options& options) {
    once_result busy;
    busy.retry_in = lock_options_of(options).ttl;
    return busy;
}

once_options with_rest_of_wait(const once_options& options, time_point give_up_at) {
    auto rest = options;
    if (give_up_at != time_point::max())
        rest.wait = std::max(duration{}, give_up_at - spi::real_runtime().now());
    return rest;
}

attempt lone_attempt(const once_key& operation, std::stop_token lost) {
    return {operation.scope, operation.key, {}, 1, time_point::max(), std::move(lost)};
}

once_result lone_result(const outcome& result) {
    if (const auto* text = std::get_if<std::string>(&result)) return {once_state::done, *text};
    if (const auto* refusal = std::get_if<rejected>(&result))
        return {once_state::failed, refusal->why};
    once_result later;
    later.retry_in = std::get<retry_after>(result).pause;
    return later;
}

}  // namespace pawl::guard
