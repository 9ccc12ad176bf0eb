// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The names of PostgreSQL's advisory locks. Standard headers only.
#pragma once

#include <cstdint>

namespace pawl::postgres {

// How a name becomes the number of an advisory lock, which other libraries can share.
enum class advisory_keys : std::uint8_t {
    // As DistributedLock.Postgres (.NET): up to 9 ASCII characters as they are, 16 hexadecimal
    // digits as a number, XXXXXXXX,XXXXXXXX as two numbers; of other names, a part of their SHA-1.
    distributed_lock,
    number,  // a decimal number, or two with a comma
    crc32    // as with_advisory_lock (Ruby): the CRC-32 of the name and 0
};

}  // namespace pawl::postgres
