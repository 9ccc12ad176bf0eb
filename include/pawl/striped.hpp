// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock in parts: callers with different keys rarely wait for each other. Standard headers only.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// Unlike std::hash, the same on every machine and in every version of Pawl: 64-bit FNV-1a (Fowler,
// Noll, Vo), then fmix64 of MurmurHash3 (Appleby). "" is 0xefd01f60ba992926, "a" is
// 0x82a2a958a9bece5b, "pawl" is 0xd33279100a554302.
//   FNV-1a: h = 14695981039346656037; for each byte: h ^= byte, h *= 1099511628211
//   fmix64: h ^= h >> 33, h *= 0xff51afd7ed558ccd, h ^= h >> 33, h *= 0xc4ceb9fe1a85ec53,
//           h ^= h >> 33
[[nodiscard]] std::uint64_t stable_hash(std::string_view bytes) noexcept;

// The names of n locks, "NAME/0" to "NAME/n-1". A key belongs to the lock with the number
// stable_hash(key) modulo n. All programs must use the same n. A plain value.
class striped {
public:
    // 1 to 65,536 stripes. Throws errc::bad_option for another number.
    striped(std::string name, std::size_t stripes);

    // The number of stripes, the stripe of a key, and the name of a stripe's lock.
    [[nodiscard]] std::size_t size() const noexcept { return stripes_; }
    [[nodiscard]] std::size_t index_of(std::string_view key) const noexcept {
        return static_cast<std::size_t>(stable_hash(key) % stripes_);
    }
    [[nodiscard]] std::string name_of(std::size_t index) const;
    // The lock of this key.
    [[nodiscard]] std::string name_for(std::string_view key) const {
        return name_of(index_of(key));
    }
    // The locks of these keys, sorted and each once, for `acquire_all`.
    [[nodiscard]] std::vector<std::string> names_for(std::span<const std::string> keys) const;

private:
    std::string name_;
    std::size_t stripes_;
};

}  // namespace pawl
