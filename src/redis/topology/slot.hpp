// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The hash slots of a cluster: the "key distribution model" of the Redis Cluster specification.
#pragma once

#include <string_view>

namespace pawl::redis {

inline constexpr unsigned slot_count = 16384;

// The part of a key that decides its slot: the text in the first braces, or the whole key if there
// is no such text.
[[nodiscard]] std::string_view hashed_part(std::string_view key) noexcept;
[[nodiscard]] unsigned slot_of(std::string_view key) noexcept;

}  // namespace pawl::redis
