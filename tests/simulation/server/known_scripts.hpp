// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Every script of the Redis backend that the simulation runs, in both layouts.
#pragma once

#include <redis/scripting/script.hpp>

#include <span>
#include <string_view>

namespace pawl::simulation {

struct known_script {
    std::string_view name;  // "acquire"; of Redisson's layout "redisson/latch_down"
    const redis::script* code;
};

[[nodiscard]] std::span<const known_script> known_scripts() noexcept;
// Finds a script by its digest or its text; null if there is none.
[[nodiscard]] const known_script* find_script(std::string_view digest_or_text) noexcept;
// Whether a program may have to keep an undo of this script's call.
[[nodiscard]] bool can_need_undo(std::string_view digest_or_text) noexcept;

}  // namespace pawl::simulation
