// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The slots of a cluster. Keys and channels are in one slot if they have the same hash tag. With
// different tags they count as being in different slots, which is nearly always so.
#pragma once

#include <string_view>

namespace pawl::simulation {

[[nodiscard]] constexpr std::string_view hash_tag_of(std::string_view key) noexcept {
    const auto begin = key.find('{');
    const auto end = begin == key.npos ? key.npos : key.find('}', begin + 1);
    const bool has_tag = end != key.npos && end > begin + 1;
    return has_tag ? key.substr(begin + 1, end - begin - 1) : key;
}

}  // namespace pawl::simulation
