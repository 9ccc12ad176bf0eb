// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Whether the records of a run keep the promises, and how much damage was done where they do not.
#pragma once

#include "records.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace real {

// A failover, and what the guarantee table allows because of it.
struct allowance {
    failover evidence;
    std::string fault;               // in which it was; empty: in none
    bool is_further = false;         // beyond the first failover of its fault
    std::size_t overlaps = 0;        // of two epochs: the new master does not know the earlier hold
    std::size_t smaller_tokens = 0;  // of the replaced master, which goes on
    std::size_t untold = 0;          // holds that the replaced master released
};

struct verdict {
    std::size_t holds = 0;
    std::size_t told = 0;     // holders that learned of their loss, at the release at the latest
    std::size_t writes = 0;   // that the resources accepted
    std::size_t refused = 0;  // holds that a resource refused

    // Promised: 0. Not counted is what a failover of `allowances` allows.
    std::size_t equal_tokens = 0;  // except those of two readers
    // A hold that was requested after another was granted has the smaller token.
    std::size_t tokens_back = 0;
    std::size_t overlaps = 0;       // pairs of holds, one of which is a writer's at least
    std::size_t late_beliefs = 0;   // holds that were believed in after their deadline
    std::size_t lost_updates = 0;   // writes over a value that their writer has not seen
    std::size_t writes_back = 0;    // accepted with a smaller token than an earlier one
    std::size_t changed_reads = 0;  // readers that saw two values
    // A hold that was refused, or a pair that overlapped, and no holder learns of it.
    std::size_t untold = 0;
    std::size_t late_losses = 0;  // told after the deadline, though no holder was stopped
    // Records that cannot be: a hold without a token, an answer before its question, an access with
    // a token that nobody got.
    std::size_t contradictions = 0;

    // The same as `overlaps`, `untold` and `tokens_back`, where a server has forgotten holds
    // without noticing, and the guarantee table allows it: of tokens, only a reader's, and only
    // with older data.
    std::size_t overlaps_by_loss = 0;
    std::size_t untold_by_loss = 0;
    std::size_t readers_back_by_loss = 0;

    std::vector<allowance> allowances;  // each failover of the run
    std::vector<std::string> details;   // of the first broken promises

    [[nodiscard]] std::size_t violations() const noexcept {
        return equal_tokens + tokens_back + overlaps + late_beliefs + lost_updates + writes_back +
               changed_reads + untold + late_losses + contradictions;
    }
    [[nodiscard]] std::size_t allowed(std::size_t allowance::*count) const noexcept {
        std::size_t sum = 0;
        for (const auto& each : allowances)
            sum += each.*count;
        return sum;
    }
    // On a busy machine, servers also replace a master that is just slow.
    [[nodiscard]] std::size_t further_failovers() const noexcept {
        std::size_t sum = 0;
        for (const auto& each : allowances)
            sum += each.is_further ? 1 : 0;
        return sum;
    }
};

[[nodiscard]] verdict check(const run_records& records);

}  // namespace real
