// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The numbers of advisory locks.
#pragma once

#include <pawl/postgres_transaction.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::postgres {

// PostgreSQL has one space of keys with 64 bits, and another one of pairs.
struct advisory_key {
    std::int64_t first = 0;
    std::optional<std::int64_t> second{};  // of a pair of numbers of 32 bits

    bool operator==(const advisory_key&) const = default;
};

// Throws errc::bad_name for a name that is no number in the scheme of numbers.
[[nodiscard]] advisory_key advisory_key_of(std::string_view name, advisory_keys scheme);
// As the arguments of a function: "42" or "1, 2".
[[nodiscard]] std::string arguments_of(const advisory_key& key);

}  // namespace pawl::postgres
