// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One process of a storm: threads that want one lock again and again, until they are killed or told
// to stop.
#pragma once

#include <cstddef>
#include <string>

namespace storm {

struct process_options {
    std::string url;
    std::string folder;  // for journals and the resource
    std::string name;    // of this process
    int threads = 8;
};

// Runs until stdin ends. Returns the exit status for main, as the functions below do.
int run_process(const process_options& options);

// Acquires each of the locks lock0, lock1, … once, and keeps them until stdin ends.
int acquire_each(const std::string& url, int count);

// Like `run_process`, but the threads want the stripes of a lock, one or two at a time. Each stripe
// has its own folder.
inline constexpr std::size_t stripes = 3;
[[nodiscard]] std::string folder_of_stripe(const std::string& folder, std::size_t index);
int run_stripes(const process_options& options);

// Holds "it" under a caller's value, again and again, in one thread and until it is killed. A
// process whose name begins with "chain" adopts the hold of the dead process before it if that hold
// has not ended, and never releases a hold that it still has.
int run_adopter(const process_options& options);

}  // namespace storm
