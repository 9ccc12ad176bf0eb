// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs injected into Redlock, to show that its scenarios find them. Some change the scripts of the
// nodes, the others what a client sends to a node or hears from it.
#pragma once

#include "core/util/spi.hpp"

#include <redis/topology/topology.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::simulation {

enum class redlock_bug : std::uint8_t {
    none,
#define PAWL_BUG(name) name,
#include "redlock_bugs.def"
#undef PAWL_BUG
};

inline constexpr std::array redlock_bug_names{
#define PAWL_BUG(name) std::pair{redlock_bug::name, std::string_view(#name)},
#include "redlock_bugs.def"
#undef PAWL_BUG
};

// The script with the bug, or the script itself. Throws std::logic_error if the bug does not fit
// the script any more.
[[nodiscard]] std::string inject_redlock_bug(redlock_bug bug, const std::string& script);
// Throws std::logic_error if a bug fits no script.
void check_redlock_bugs();

// The link with the bug.
[[nodiscard]] std::shared_ptr<redis::link> inject_link_bug(redlock_bug bug,
                                                           std::shared_ptr<redis::link> into,
                                                           runtime& time);
// What the client hears of a message; false: nothing.
[[nodiscard]] bool is_heard(redlock_bug bug, std::string_view payload);
// The backend with the bug, or the backend itself.
[[nodiscard]] std::unique_ptr<backend> inject_backend_bug(redlock_bug bug,
                                                          std::unique_ptr<backend> into,
                                                          const backend_context& context);

}  // namespace pawl::simulation
