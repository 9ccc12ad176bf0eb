// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs that can be injected into the SQLite backend, to measure whether its scenarios find them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pawl::simulation {

enum class file_bug : std::uint8_t {
    none,
#define PAWL_BUG(name, trigger) name,
#include "file_bugs.def"
#undef PAWL_BUG
};

struct named_file_bug {
    file_bug bug;
    std::string_view name;
    const char* trigger;  // of each connection; null: the bug is no trigger
};
inline constexpr std::array file_bugs{
#define PAWL_BUG(name, trigger) named_file_bug{file_bug::name, #name, trigger},
#include "file_bugs.def"
#undef PAWL_BUG
};

}  // namespace pawl::simulation
