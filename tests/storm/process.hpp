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

// Until stdin ends. Returns the exit status for main.
int run_process(const process_options& options);

// One process that acquires each of these locks once, and keeps them. Until stdin ends.
int acquire_each(const std::string& url, int names);

// The same with the stripes of a lock, one or two at a time; each stripe has its own folder.
inline constexpr std::size_t stripes = 3;
[[nodiscard]] std::string folder_of_stripe(const std::string& folder, std::size_t index);
int run_stripes(const process_options& options);

// Holds "it" under a value. A process whose name begins with "chain" takes over the hold of the
// process before it, and continues until it is killed.
int run_adopter(const process_options& options);

}  // namespace storm
