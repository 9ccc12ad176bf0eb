// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sha256.hpp"

#include <boost/hash2/sha2.hpp>

namespace pawl::guard {

std::string sha256(std::string_view message) {
    boost::hash2::sha2_256 hash;
    hash.update(message.data(), message.size());
    const auto digest = hash.result();
    return {digest.begin(), digest.end()};
}

}  // namespace pawl::guard
