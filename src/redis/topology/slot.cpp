// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "slot.hpp"

namespace pawl::redis {

std::string_view hashed_part(std::string_view key) noexcept {
    const auto open = key.find('{');
    const auto close = open == std::string_view::npos ? open : key.find('}', open);
    if (close == std::string_view::npos || close == open + 1) return key;
    return key.substr(open + 1, close - open - 1);
}

// CRC-16/XMODEM, as in the server.
unsigned slot_of(std::string_view key) noexcept {
    unsigned crc = 0;
    for (const char c : hashed_part(key)) {
        crc ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021 : 0);
        crc &= 0xffff;
    }
    return crc % slot_count;
}

}  // namespace pawl::redis
