// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <string>
#include <string_view>

namespace pawl::guard {

// The 32 bytes of SHA-256 (FIPS 180-4). Its own, because a build with SQLite only has no OpenSSL.
[[nodiscard]] std::string sha256(std::string_view message);

}  // namespace pawl::guard
