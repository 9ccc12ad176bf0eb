// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "advisory_key.hpp"

#include <pawl/error.hpp>

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace pawl::postgres {
namespace {

// The whole text as a number of this type.
template <class Number>
std::optional<Number> parse(std::string_view text, int base) {
    Number number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    return number;
}

// The characters, 7 bits each; then a 0 bit, and 1 bits to the end.
std::optional<std::int64_t> ascii_key(std::string_view name) {
    constexpr std::size_t longest = 9;
    const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (name.size() > longest || !std::ranges::all_of(name, is_ascii)) return std::nullopt;
    std::uint64_t bits = 0;
    for (const char c : name)
        bits = bits << 7 | static_cast<unsigned char>(c);
    const auto rest = 64 - 7 * name.size();  // 1 or more
    const auto filler = (std::uint64_t{1} << (rest - 1)) - 1;
    if (rest < 64) bits <<= rest;
    return static_cast<std::int64_t>(bits | filler);
}

std::optional<advisory_key> hexadecimal_key(std::string_view name) {
    if (name.size() == 16)
        if (const auto number = parse<std::uint64_t>(name, 16))
            return advisory_key{static_cast<std::int64_t>(*number)};
    if (name.size() != 17 || name[8] != ',') return std::nullopt;
    const auto first = parse<std::uint32_t>(name.substr(0, 8), 16);
    const auto second = parse<std::uint32_t>(name.substr(9), 16);
    if (!first || !second) return std::nullopt;
    return advisory_key{static_cast<std::int32_t>(*first), static_cast<std::int32_t>(*second)};
}

// The first 8 bytes of the SHA-1, the lowest one first.
std::int64_t hashed_key(std::string_view name) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    if (EVP_Digest(name.data(), name.size(), digest.data(), nullptr, EVP_sha1(), nullptr) != 1)
        throw error(errc::unsupported,
                    "OpenSSL has no SHA-1 here; use a name of at most 9 ASCII characters.");
    std::uint64_t number = 0;
    for (std::size_t i = 8; i-- > 0;)
        number = number << 8 | digest[i];
    return static_cast<std::int64_t>(number);
}

advisory_key number_key(std::string_view name) {
    const auto comma = name.find(',');
    if (comma == std::string_view::npos) {
        if (const auto number = parse<std::int64_t>(name, 10)) return {*number};
    } else {
        const auto first = parse<std::int32_t>(name.substr(0, comma), 10);
        const auto second = parse<std::int32_t>(name.substr(comma + 1), 10);
        if (first && second) return {*first, *second};
    }
    throw error(errc::bad_name, "'" + std::string(name) +
                                    "' is not the key of an advisory lock; write a number of 64 "
                                    "bits, or two of 32 bits with a comma.");
}

std::uint32_t crc32(std::string_view name) noexcept {
    std::uint32_t sum = 0xffffffff;
    for (const char c : name) {
        sum ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit)
            sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xedb88320 : 0);
    }
    return ~sum;
}

}  // namespace

advisory_key advisory_key_of(std::string_view name, advisory_keys scheme) {
    switch (scheme) {
    case advisory_keys::number: return number_key(name);
    case advisory_keys::crc32: return {crc32(name) & 0x7fffffff, 0};
    case advisory_keys::distributed_lock: break;
    }
    if (const auto number = ascii_key(name)) return {*number};
    if (const auto key = hexadecimal_key(name)) return *key;
    return {hashed_key(name)};
}

// The types are exact: a function of another user, in a schema of the search path, might fit better
// to a small number.
std::string arguments_of(const advisory_key& key) {
    const auto argument = [](std::int64_t number, const char* type) {
        return "'" + std::to_string(number) + "'::pg_catalog." + type;
    };
    if (!key.second) return argument(key.first, "int8");
    return argument(key.first, "int4") + ", " + argument(*key.second, "int4");
}

}  // namespace pawl::postgres
