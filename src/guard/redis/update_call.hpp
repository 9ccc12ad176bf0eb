// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One try to replace a value: SET … IFEQ where the server has it, otherwise a script. No I/O.
#pragma once

#include "script_call.hpp"

#include <pawl/guard/counters.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::guard::redis {

// Throws errc::bad_option.
void check_update(std::string_view key, const update_options& options);

[[nodiscard]] redis_command conditional_set(std::string_view key, const std::string& expected,
                                            const std::string& replacement);
[[nodiscard]] script_call replace_call(std::string_view key, const std::string& expected,
                                       const std::string& replacement);

// For the reply to conditional_set: the server executed nothing, and has no IFEQ.
[[nodiscard]] bool is_unknown_option(const redis_reply& reply);
// For the reply to either; throws the server's refusal.
[[nodiscard]] bool is_replaced(const redis_reply& reply, std::string_view key);

[[noreturn]] void throw_conflict(std::string_view key, std::uint32_t tries);
[[nodiscard]] duration pause_after(std::uint32_t tries);

}  // namespace pawl::guard::redis
