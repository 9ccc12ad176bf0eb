// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Random values for the core and the backends.
#pragma once

#include <pawl/spi/runtime.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pawl::core {

[[nodiscard]] inline std::string to_hex(std::span<const std::byte> bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text(bytes.size() * 2, '0');
    auto position = text.begin();
    for (const auto each : bytes) {
        const auto byte = std::to_integer<unsigned>(each);
        *position++ = digits[byte >> 4];
        *position++ = digits[byte & 15];
    }
    return text;
}

inline std::string random_hex(runtime& time, std::size_t bytes) {
    std::array<std::byte, 32> raw{};
    const auto requested = std::span(raw).first(bytes);
    time.random(requested);
    return to_hex(requested);
}

// Random numbers of 128 bits in hex, each returned once. Requests many of them in one system call.
// Must not be used in a fork, where the same numbers would be returned as in the parent.
class random_numbers {
public:
    explicit random_numbers(runtime& time) noexcept : time_(time) {}

    [[nodiscard]] std::string next() {
        if (left_.empty()) {
            time_.random(bytes_);
            left_ = bytes_;
        }
        auto text = to_hex(left_.first(number_size));
        left_ = left_.subspan(number_size);
        return text;
    }

private:
    static constexpr std::size_t number_size = 16;

    runtime& time_;
    std::array<std::byte, 32 * number_size> bytes_{};
    std::span<const std::byte> left_;
};

// Uniformly distributed over [low, high).
inline duration random_between(runtime& time, duration low, duration high) {
    std::array<std::byte, 8> raw{};
    time.random(raw);
    std::uint64_t bits = 0;
    for (const auto byte : raw)
        bits = bits << 8 | std::to_integer<std::uint64_t>(byte);
    const auto range = static_cast<std::uint64_t>((high - low).count());
    return low + duration(static_cast<duration::rep>(range == 0 ? 0 : bits % range));
}

}  // namespace pawl::core
