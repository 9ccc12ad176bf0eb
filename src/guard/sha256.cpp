// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sha256.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace pawl::guard {
namespace {

using words = std::array<std::uint32_t, 8>;

// The first bits of the fractions of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(std::string_view four) {
    std::uint32_t number = 0;
    for (const char each : four)
        number = number << 8 | static_cast<unsigned char>(each);
    return number;
}

void add_block(words& state, std::string_view block) {
    std::array<std::uint32_t, 64> schedule{};
    for (std::size_t i = 0; i < 16; ++i)
        schedule[i] = big_endian(block.substr(4 * i, 4));
    for (std::size_t i = 16; i < 64; ++i) {
        const auto before = schedule[i - 15], late = schedule[i - 2];
        schedule[i] = schedule[i - 16] + schedule[i - 7] +
                      (std::rotr(before, 7) ^ std::rotr(before, 18) ^ before >> 3) +
                      (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
        const auto first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                           ((e & f) ^ (~e & g)) + round_constants[i] + schedule[i];
        const auto second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first;
        d = c, c = b, b = a, a = first + second;
    }
    const words added{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i)
        state[i] += added[i];
}

template <class Number>
void append(std::string& bytes, Number number) {
    for (int shift = 8 * (static_cast<int>(sizeof number) - 1); shift >= 0; shift -= 8)
        bytes += static_cast<char>(number >> shift & 0xff);
}

}  // namespace

std::string sha256(std::string_view message) {
    words state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const auto whole = message.size() / 64 * 64;
    for (std::size_t at = 0; at < whole; at += 64)
        add_block(state, message.substr(at, 64));
    std::string rest(message.substr(whole));
    rest += '\x80';
    rest.resize((rest.size() + 8 + 63) / 64 * 64 - 8);
    append(rest, std::uint64_t{message.size()} * 8);
    for (std::size_t at = 0; at < rest.size(); at += 64)
        add_block(state, std::string_view(rest).substr(at, 64));
    std::string digest;
    for (const auto each : state)
        append(digest, each);
    return digest;
}

}  // namespace pawl::guard
