// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs injected into Redlock that change what a client hears from its nodes. Each leaves out
// one rule of a decision.
#pragma once

#include "core/util/spi.hpp"
#include "redlock_bugs.hpp"

#include <redis/scripting/script.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace pawl::simulation {

[[nodiscard]] bool is_in_answers(redlock_bug bug) noexcept;
// The link with the bug.
[[nodiscard]] std::shared_ptr<redis::link> inject_answer_bug(redlock_bug bug,
                                                             std::shared_ptr<redis::link> into,
                                                             runtime& time);

[[nodiscard]] inline bool is_call_of(std::span<const std::string_view> words,
                                     const redis::script& script) {
    return words.size() > 2 && (words[1] == script.sha1 || words[1] == script.text);
}
[[nodiscard]] std::size_t key_count(std::span<const std::string_view> words);

}  // namespace pawl::simulation
