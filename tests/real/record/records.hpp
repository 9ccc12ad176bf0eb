// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the clients, the resources, the servers and the faults of a run have recorded.
#pragma once

#include "resource.hpp"
#include "server_history.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace real {

struct hold_record {
    std::uint64_t hold = 0;
    std::uint64_t token = 0;
    bool is_reader = false;
    instant invoked = 0;             // before the acquire
    instant returned = 0;            // after it
    instant believed = 0;            // the last check that said "held"
    instant deadline = 0;            // of the lease, the last known one; 0: unknown
    bool believes_too_long = false;  // a check said so after the end of the lease
    std::optional<instant> refused;  // by the resource
    std::optional<instant> lost;     // when the loss was reported
    std::optional<instant> ended;    // when release() returned
    std::string result;              // of release(); empty: it has not returned
};

struct lock_records {
    std::vector<hold_record> holds;
    std::vector<access_record> accesses;  // in the resource's order
    // Of earlier rounds, the hold with the largest token of each epoch. All of them are over.
    std::vector<hold_record> earlier;
};

struct fault_record {
    std::string name;
    instant begin = 0;
    instant end = 0;  // all servers have recovered
};

struct run_records {
    std::vector<lock_records> locks;  // lock i has the key i of the history
    std::vector<server_period> history;
    // Of servers whose guarantees exclude them. With others they excuse nothing.
    std::vector<memory_loss> memory_losses;
    std::vector<fault_record> faults;
    bool have_epochs = false;  // the tokens: see epoch_of
    bool are_stopped = true;   // some holders were, so they learned late that a lease had ended
    instant begin = 0;         // of the run: printed times count from it
    std::vector<std::string> errors;  // of acquires
};

// The upper part of Pawl's tokens: the epoch of the client's server.
[[nodiscard]] constexpr std::uint64_t epoch_of(std::uint64_t token) noexcept {
    return token >> 47U;
}

// "12.345 s", counted from the begin of the run.
[[nodiscard]] std::string to_text(const run_records& records, instant when);

// For `earlier` of the next round: of this lock's holds, including `earlier`.
[[nodiscard]] std::vector<hold_record> newest_holds(const lock_records& lock, bool have_epochs);

// The longest time from the return of one acquire to the next return, in ns.
[[nodiscard]] instant longest_gap(const lock_records& lock);

[[nodiscard]] std::string resource_path(const std::string& folder, std::size_t lock);
[[nodiscard]] std::string journal_path(const std::string& folder, std::size_t process);
// Reads the files of client processes 0, 1, … and of the resources.
[[nodiscard]] run_records read_records(const std::string& folder, std::size_t processes,
                                       std::size_t locks);

}  // namespace real
