// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Counters in Redis and Valkey with a bound, and values that are changed by a function: changes of
// one key, which need no lock. Each counter is a string with a decimal integer, as INCRBY has it.
// Standard headers only.
#pragma once

#include <pawl/guard/redis.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace pawl::guard {

// For `subtract`.
struct subtract_options {
    // The counter never becomes smaller by this step.
    std::int64_t floor = 0;
    // How long the server remembers the step's id: 1 ms to 366 days.
    duration keep = std::chrono::hours(1);
};

// For `add`.
struct add_options {
    // The counter never becomes larger by this step.
    std::int64_t ceiling = std::numeric_limits<std::int64_t>::max();
    duration keep = std::chrono::hours(1);  // as in subtract_options
};

// For `update`.
struct update_options {
    // How often the value is read and written before `update` gives up; 1 to 1000. Between two
    // tries is a random pause, which grows up to 50 ms.
    std::uint32_t tries = 32;
};

static_assert(std::is_trivially_copyable_v<subtract_options> &&
              std::is_trivially_copyable_v<add_options> &&
              std::is_trivially_copyable_v<update_options>);

// The new value for an old one; nothing: the value stays. May run several times.
using change = std::function<std::optional<std::string>(const std::string& old_value)>;

// Each function is one command, and exact for 64-bit numbers; only `update` needs two commands for
// a try. A failover to a replica may lose the last steps. Throws pawl::error:
//   lost         there is no such key: it was never created, or the server has lost its data
//   wrong_type   the key contains something else
//   bad_option   an argument is out of range, or keys are in different slots of a cluster
//   bad_name     a key is empty, or has a } and no hash tag where a key stands beside it
//   unavailable, refused, unsupported, protocol   the server refused the command
// and whatever the connection throws if no answer comes. Then the step may have been counted:
// repeat it with the same id. Not thread-safe, as the connection is not.
class counters {
public:
    // The connection must outlive this object.
    explicit counters(redis_connection& server) noexcept : server_(server) {}

    // Makes the counter with this value. False, without a change: it exists.
    bool create(std::string_view key, std::int64_t start);
    // The present value.
    [[nodiscard]] std::int64_t get(std::string_view key);

    // Subtracts n, from 1, if the floor allows it: the new value, or nothing. With an id of 1 to
    // 255 bytes, the step is counted once: for `keep`, a call with the same id, key and n returns
    // what the first one returned. Only counted steps are remembered. An id needs a key beside the
    // counter's, for `keep`; in a cluster it is in the same slot.
    std::optional<std::int64_t> subtract(std::string_view key, std::int64_t n,
                                         const subtract_options& options = {},
                                         std::string_view id = {});
    // Adds n, from 1, if the ceiling allows it. Otherwise as `subtract`.
    std::optional<std::int64_t> add(std::string_view key, std::int64_t n,
                                    const add_options& options = {}, std::string_view id = {});

    // Replaces a value by a function of it, if the bytes are still the same when it is written, and
    // otherwise begins again. Returns the value after it. Keeps the key's ttl. Throws `conflict`
    // after the last try; many callers of one key need a script, or a lock. Not for steps that must
    // count once: after a lost answer, the caller does not know whether the value was replaced.
    std::string update(std::string_view key, const change& new_value,
                       const update_options& options = {});

private:
    redis_connection& server_;
    bool has_conditional_set_ = true;  // SET … IFEQ; false once the server did not know it
};

}  // namespace pawl::guard
