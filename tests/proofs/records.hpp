// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the clients, the resources and the faults of a run have recorded. Times are ns of the boot
// clock, which all processes share.
#pragma once

#include "fault.hpp"
#include "resource.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace proofs {

using instant = std::int64_t;

struct hold_record {
    std::uint64_t hold = 0;
    std::uint64_t token = 0;
    instant invoked = 0;             // before the acquire
    instant returned = 0;            // after it
    instant believed = 0;            // the last check that said "held"
    bool believes_too_long = false;  // a check said so after the end of the lease
    bool was_refused = false;        // by the resource
    std::optional<instant> lost;     // when the loss was reported
    std::optional<instant> ended;    // when release() returned
    std::string result;              // of release(); empty: it has not returned
};

struct lock_records {
    std::vector<hold_record> holds;
    std::vector<access_record> accesses;  // in the resource's order
};

struct fault_record {
    std::string name;
    consequences can;
    instant begin = 0;
    instant end = 0;  // all servers have recovered
};

struct run_records {
    std::vector<lock_records> locks;
    std::vector<fault_record> faults;
    std::vector<std::string> errors;  // of acquires
};

// Reads the files of client processes 0, 1, … and of the resources.
[[nodiscard]] run_records read_records(const std::string& folder, std::size_t processes,
                                       std::size_t locks);

}  // namespace proofs
