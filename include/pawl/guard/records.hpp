// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of `once` that need somebody: those that wait for a repetition or a person, and those
// that are over. Standard headers only. Thread-safe for different connections; blocking. Errors as
// in pawl/guard/once.hpp.
#pragma once

#include <pawl/guard/connection.hpp>
#include <pawl/options.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::guard {

// One operation, as its record shows it.
struct once_record {
    std::string scope{};         // as in once_key
    std::string key{};           // as in once_key
    fencing_token token{};       // of the last attempt
    std::uint32_t attempts = 0;  // so far
    duration overdue{};          // since the last attempt's lease ended
    std::string why{};           // of a failed operation
};

// Where a listing goes on: behind this operation. The default is the beginning.
struct once_position {
    std::string scope{};  // as in once_key
    std::string key{};    // as in once_key
};

// The operations that were begun and not ended, whose lease has been over for this time or longer,
// in the order of scope and key. Call the function that failed again, with the same key.
[[nodiscard]] std::vector<once_record> unfinished(connection& db, duration older_than = {},
                                                  const once_position& after = {},
                                                  std::uint32_t limit = 100);
// The operations that have failed for good and are still kept, in the same order: for a person, who
// decides about an effect outside.
[[nodiscard]] std::vector<once_record> failed(connection& db, const once_position& after = {},
                                              std::uint32_t limit = 100);
// Removes up to `limit` records whose `keep` is over, and returns their number: repeat the call
// while it returns `limit`. Never removes an unfinished operation. May throw `conflict`.
std::uint64_t purge(connection& db, std::uint32_t limit = 1000);

}  // namespace pawl::guard
