// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in the memory of one process, for tests of programs that use Pawl.
#pragma once

#include <pawl/service.hpp>

#include <string>
#include <string_view>

namespace pawl::memory {

// Which set of locks.
struct options {
    // One set of locks for each name in the process, from its first use until the process ends.
    // Empty: a new set of locks, all free, which the copies of the service share.
    std::string name{};
};

// Thread-safe.
[[nodiscard]] service at(const options& settings = {});
// memory: or memory:NAME. Throws errc::bad_url for a URL that is not understood. Thread-safe.
[[nodiscard]] service at(std::string_view url);

}  // namespace pawl::memory
