// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The Lua scripts of Redisson itself. extract_scripts.py reads them from Redisson's jar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::simulation {

enum class java_script : std::uint8_t {
    lock,
    fenced_lock,
    fenced_lock_with_token,
    unlock,
    renew,
    fair_lock,
    fair_try_lock,
    fair_leave,
    fair_unlock,
    read_lock,
    read_unlock,
    read_renew,
    write_lock,
    write_unlock,
    permits_try_set,
    permits_acquire,
    permits_release,
    permits_release_all,
    permits_update_lease,
    semaphore_try_set,
    semaphore_acquire,
    semaphore_release,
    semaphore_add
};

// Throws std::runtime_error if Redisson's scripts have not been extracted, or have changed so much
// that one of them is not found.
[[nodiscard]] const std::string& text_of(java_script script);
// "java/lock"
[[nodiscard]] std::string_view to_string(java_script script) noexcept;
// The name of the script with this text; empty if there is none.
[[nodiscard]] std::string_view find_java_script(std::string_view text);

}  // namespace pawl::simulation
