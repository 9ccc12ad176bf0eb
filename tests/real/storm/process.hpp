// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The helper processes of the storms, beside the clients of clients/client_process.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace real::storm {

// Locks of a process with the role "stripes", which wants one or two of them at a time.
inline constexpr std::size_t stripes = 3;

// Runs the helper with these words until stdin ends, and returns the exit status for main: 2 if
// there is no such helper.
//   refused URL COUNT                 acquires each of the locks lock0, lock1, … once
//   stripes URL FOLDER PROCESS        eight threads that want the stripes again and again
//   adopt URL FOLDER PROCESS chain    holds "it" under a caller's value until it is killed. It
//                                     adopts the hold of the dead process before it if that hold
//                                     has not ended
//   adopt URL FOLDER PROCESS other    holds "it" under values of its own, again and again
int run_helper(const std::vector<std::string>& words);

}  // namespace real::storm
