// One lock in parts: who works on different keys seldom waits for each other. Standard headers
// only.
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

// The same on every machine and in every version of Pawl, unlike std::hash: FNV-1a with 64 bits
// over the bytes (from 14695981039346656037: xor the byte, multiply by 1099511628211), then h ^= h
// >> 33, h *= 0xff51afd7ed558ccd, h ^= h >> 33, h *= 0xc4ceb9fe1a85ec53, h ^= h >> 33. For example:
// "" 0xefd01f60ba992926, "a" 0x82a2a958a9bece5b, "pawl" 0xd33279100a554302.
[[nodiscard]] std::uint64_t stable_hash(std::string_view bytes) noexcept;

// The names of n locks, and which key belongs to which: "NAME/0" to "NAME/n-1", by stable_hash(key)
// modulo n. All who share the stripes must say the same n. A plain value.
class striped {
public:
    // 1 to 65,536 stripes; throws errc::bad_option.
    striped(std::string name, std::size_t stripes);

    [[nodiscard]] std::size_t size() const noexcept { return stripes_; }
    [[nodiscard]] std::size_t index_of(std::string_view key) const noexcept {
        return static_cast<std::size_t>(stable_hash(key) % stripes_);
    }
    [[nodiscard]] std::string name_of(std::size_t index) const;
    // The lock of one key.
    [[nodiscard]] std::string name_for(std::string_view key) const {
        return name_of(index_of(key));
    }
    // Those of several, each once, for `acquire_all`.
    [[nodiscard]] std::vector<std::string> names_for(std::span<const std::string> keys) const;

private:
    std::string name_;
    std::size_t stripes_;
};

}  // namespace pawl
