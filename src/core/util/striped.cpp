// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/striped.hpp>

#include <pawl/error.hpp>

#include <algorithm>

namespace pawl {

std::uint64_t stable_hash(std::string_view bytes) noexcept {
    std::uint64_t hash = 14695981039346656037U;
    for (const char c : bytes)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccdU;
    hash ^= hash >> 33;
    hash *= 0xc4ceb9fe1a85ec53U;
    hash ^= hash >> 33;
    return hash;
}

striped::striped(std::string name, std::size_t stripes)
    : name_(std::move(name)), stripes_(stripes) {
    if (stripes == 0 || stripes > 65'536)
        throw error(errc::bad_option,
                    "The number of stripes is " + std::to_string(stripes) +
                        "; it must be between 1 and 65536, and the same everywhere.");
}

std::string striped::name_of(std::size_t index) const {
    return name_ + "/" + std::to_string(index);
}

std::vector<std::string> striped::names_for(std::span<const std::string> keys) const {
    std::vector<std::string> names;
    for (const auto& each : keys)
        names.push_back(name_for(each));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace pawl
