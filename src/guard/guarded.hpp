// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the guarded forms of `once` have in common, sync and async.
#pragma once

#include "once_machine.hpp"

#include <pawl/blocking/client.hpp>

namespace pawl::guard {

[[nodiscard]] bool uses(const once_options& options, layers layer) noexcept;
// The lock in front: an empty handle if `options` has no such layer; nothing if other callers had
// the lock for the whole wait.
[[nodiscard]] std::optional<blocking::held_lock> acquire_in_front(blocking::client& locks,
                                                                  std::string_view name,
                                                                  const once_options& options,
                                                                  const std::stop_token& cancel);
// How such a lock is acquired.
[[nodiscard]] lock_options lock_options_of(const once_options& options);
// `running`, for a caller that did not get the lock.
[[nodiscard]] once_result busy_result(const once_options& options);
// The same options, with what is left of the wait.
[[nodiscard]] once_options with_rest_of_wait(const once_options& options, time_point give_up_at);
// Of a work without a record.
[[nodiscard]] attempt lone_attempt(const once_key& operation, std::stop_token lost);
[[nodiscard]] once_result lone_result(const outcome& result);

}  // namespace pawl::guard
