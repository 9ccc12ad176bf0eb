// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Whether the records of a run keep the promises, and how much damage was done where they do not.
#pragma once

#include "records.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace proofs {

struct verdict {
    std::size_t holds = 0;
    std::size_t told = 0;     // holders that learned of their loss, at the release at the latest
    std::size_t writes = 0;   // that the resources accepted
    std::size_t refused = 0;  // holds that a resource refused

    // Promised: 0.
    std::size_t equal_tokens = 0;
    // A hold that was requested after another was granted has the smaller token.
    std::size_t tokens_back = 0;
    std::size_t overlaps = 0;      // pairs of holds
    std::size_t late_beliefs = 0;  // holds that were believed in after their deadline
    std::size_t lost_updates = 0;  // writes over a value that their writer has not seen
    std::size_t writes_back = 0;   // accepted with a smaller token than an earlier one
    // A hold that was refused, or a pair that overlapped, and no holder learns of it.
    std::size_t untold = 0;

    // The same where the guarantee table allows it.
    std::size_t allowed_tokens_back = 0;  // of a server that was replaced, and went on
    std::size_t allowed_overlaps = 0;
    std::size_t allowed_untold = 0;

    std::vector<std::string> details;  // of the first broken promises

    [[nodiscard]] std::size_t violations() const noexcept {
        return equal_tokens + tokens_back + overlaps + late_beliefs + lost_updates + writes_back +
               untold;
    }
};

// `epoch_of` as in `environment`.
[[nodiscard]] verdict check(const run_records& records,
                            const std::function<std::uint64_t(std::uint64_t token)>& epoch_of);

}  // namespace proofs
