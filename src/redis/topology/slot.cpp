// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "slot.hpp"

#include <array>
#include <cstdint>

namespace pawl::redis {
namespace {

// CRC-16/XMODEM, as in the server.
constexpr auto crc_of_byte = [] {
    std::array<std::uint16_t, 256> table{};
    for (unsigned byte = 0; byte < table.size(); ++byte) {
        unsigned crc = byte << 8;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
        table[byte] = static_cast<std::uint16_t>(crc);
    }
    return table;
}();

}  // namespace

std::string_view hashed_part(std::string_view key) noexcept {
    const auto open = key.find('{');
    const auto close = open == std::string_view::npos ? open : key.find('}', open);
    if (close == std::string_view::npos || close == open + 1) return key;
    return key.substr(open + 1, close - open - 1);
}

// Each request asks for the slot of its key several times, so a byte takes one step and not eight.
unsigned slot_of(std::string_view key) noexcept {
    unsigned crc = 0;
    for (const char c : hashed_part(key))
        crc = ((crc << 8) & 0xffff) ^ crc_of_byte[(crc >> 8) ^ static_cast<unsigned char>(c)];
    return crc % slot_count;
}

}  // namespace pawl::redis
