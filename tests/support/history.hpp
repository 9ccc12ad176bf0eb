// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The history of a set of lock users, and whether a lock service may have produced it.
//
// Tokens give the order, so no search is needed: O(n log n). Times are of one clock for all
// processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace support {

using instant = std::int64_t;  // ns of the boot clock

// One successful acquire. Failed ones constrain nothing.
struct hold_record {
    std::uint64_t token = 0;
    instant invoked = 0;          // before the call
    instant returned = 0;         // after it: from now on the holder believes that it holds
    instant ended = 0;            // the end of belief: release called, loss reported, or deadline
    instant deadline = 0;         // the last known one
    std::optional<instant> lost;  // when the loss was reported
    std::string owner;
};

// A write that the resource saw, in its own order.
struct write_record {
    std::uint64_t token = 0;
    instant observed_at = 0;
};

struct history {
    std::vector<hold_record> holds;
    std::vector<write_record> writes;
};

struct violation {
    std::string rule;  // C1 … C6
    std::string message;
};

// C1 tokens are distinct. C2 a hold whose acquire returned before the acquire of another was called
// has the smaller token. C3 beliefs do not overlap. C4 the resource never sees a token go back, nor
// a token that was never granted. C5 a loss is reported at its deadline at the latest, and no
// belief goes on after the deadline. C6 a record is consistent in itself.
[[nodiscard]] std::vector<violation> check_history(const history& recorded);

// The longest time from the return of one acquire to the next return, in ns.
[[nodiscard]] instant longest_gap(const history& recorded);

}  // namespace support
