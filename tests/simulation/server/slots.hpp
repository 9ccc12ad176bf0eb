// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The slots of a cluster. Keys and channels are in one slot if they have the same hash tag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pawl::simulation {

inline constexpr std::size_t slot_count = 16384;

[[nodiscard]] constexpr std::string_view hash_tag_of(std::string_view key) noexcept {
    const auto begin = key.find('{');
    const auto end = begin == key.npos ? key.npos : key.find('}', begin + 1);
    const bool has_tag = end != key.npos && end > begin + 1;
    return has_tag ? key.substr(begin + 1, end - begin - 1) : key;
}

// CRC-16/XMODEM of the hash tag.
[[nodiscard]] constexpr std::size_t slot_of(std::string_view key) noexcept {
    std::uint16_t crc = 0;
    for (const char each : hash_tag_of(key)) {
        crc = static_cast<std::uint16_t>(crc ^ (static_cast<unsigned char>(each) << 8));
        for (int bit = 0; bit < 8; ++bit)
            crc = static_cast<std::uint16_t>((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1);
    }
    return crc % slot_count;
}

static_assert(slot_of("123456789") == 0x31C3 % slot_count);

}  // namespace pawl::simulation
