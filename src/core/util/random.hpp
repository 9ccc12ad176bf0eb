// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Random values for the core and the backends.
#pragma once

#include "spi.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace pawl::core {

inline std::string random_hex(runtime& source, std::size_t bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::array<std::byte, 32> raw{};
    source.random(std::span(raw).first(bytes));
    std::string text(bytes * 2, '0');
    for (std::size_t i = 0; i < bytes; ++i) {
        const auto byte = std::to_integer<unsigned>(raw[i]);
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
    return text;
}

// Uniformly distributed over [low, high).
inline duration random_between(runtime& source, duration low, duration high) {
    std::array<std::byte, 8> raw{};
    source.random(raw);
    std::uint64_t bits = 0;
    for (const auto byte : raw)
        bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
    const auto range = static_cast<std::uint64_t>((high - low).count());
    return low + duration(static_cast<duration::rep>(range == 0 ? 0 : bits % range));
}

}  // namespace pawl::core
