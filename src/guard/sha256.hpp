// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <string>
#include <string_view>

namespace pawl::guard {

// The 32 bytes of SHA-256 (FIPS 180-4). Not of OpenSSL, which a build with SQLite only lacks.
[[nodiscard]] std::string sha256(std::string_view message);

}  // namespace pawl::guard
