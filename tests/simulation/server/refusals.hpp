// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The errors of a server that is reachable and executes nothing.
#pragma once

#include <array>
#include <string_view>

namespace pawl::simulation {

struct refusal {
    std::string_view error;
    bool at_once;  // before a script begins; otherwise at its first write
};

inline constexpr std::array refusals{
    refusal{"NOREPLICAS Not enough good replicas to write.", false},
    refusal{
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
        "to disk.",
        false},
    refusal{"OOM command not allowed when used memory > 'maxmemory'.", false},
    refusal{"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
            "NOSAVE.",
            true},
    refusal{"LOADING Redis is loading the dataset in memory", true},
    refusal{"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
            true},
    refusal{"CLUSTERDOWN The cluster is down", true},
    refusal{"TRYAGAIN Multiple keys request during rehashing of slot", true},
};

}  // namespace pawl::simulation
