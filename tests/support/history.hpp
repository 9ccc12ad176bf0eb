// What a crowd of lock users did, and whether a lock service may have let them.
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

// One acquire that succeeded. Those that did not constrain nothing.
struct hold_record {
    std::uint64_t token = 0;
    instant invoked = 0;          // before the call
    instant returned = 0;         // after it: from here on the holder believes
    instant ended = 0;            // the end of belief: release called, loss told, or deadline
    instant deadline = 0;         // the last known one
    std::optional<instant> lost;  // when the loss was told
    std::string who;
};

// A write that the resource saw, in its own order.
struct write_record {
    std::uint64_t token = 0;
    instant when = 0;
};

struct history {
    std::vector<hold_record> holds;
    std::vector<write_record> writes;
};

struct violation {
    std::string rule;  // C1 … C6
    std::string what;
};

// C1 tokens are distinct. C2 who returned before another began has the smaller token. C3 no two
// believe at once. C4 the resource never sees a token go back, nor one that nobody got. C5 a loss
// is told at its deadline at the latest. C6 a record makes sense in itself.
[[nodiscard]] std::vector<violation> check(const history& of);

// The longest time between one acquire and the next one, over all of the history, in ns.
[[nodiscard]] instant longest_gap(const history& of);

}  // namespace support
