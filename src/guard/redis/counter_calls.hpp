// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The commands of counters, and the meaning of their replies; no I/O.
#pragma once

#include "script_call.hpp"

#include <pawl/guard/counters.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::guard::redis {

// One step of a counter. Throws errc::bad_option and errc::bad_name for arguments out of range.
class counter_step {
public:
    static counter_step subtract(std::string_view key, std::int64_t n,
                                 const subtract_options& options, std::string_view id);
    static counter_step add(std::string_view key, std::int64_t n, const add_options& options,
                            std::string_view id);

    [[nodiscard]] const script_call& call() const noexcept { return call_; }
    // The value after the step; nothing if the bound refused it.
    [[nodiscard]] std::optional<std::int64_t> result(const redis_reply& reply) const;

private:
    counter_step(std::string_view key, std::int64_t amount, std::string bound, const char* side,
                 std::string_view id, duration keep);

    script_call call_;
};

[[nodiscard]] redis_command create_command(std::string_view key, std::int64_t value);
[[nodiscard]] bool is_created(const redis_reply& reply, std::string_view key);
[[nodiscard]] redis_command get_command(std::string_view key);
// The bytes under the key; throws errc::lost if there are none.
[[nodiscard]] std::string stored_bytes(const redis_reply& reply, std::string_view key);
[[nodiscard]] std::int64_t stored_number(const redis_reply& reply, std::string_view key);

}  // namespace pawl::guard::redis
