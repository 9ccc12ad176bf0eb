// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client process: threads that acquire locks again and again, work with the resource of the lock
// meanwhile, and record what they believe, until stdin ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace proofs {

constexpr std::chrono::seconds longest_ttl{6};  // of the leases

struct client_options {
    std::string url;
    std::string folder;         // of journals and resources
    std::size_t process = 0;    // the number of this process, never used twice
    std::size_t locks = 0;      // their names are those of `lock_name`
    bool checks_tokens = true;  // the resource does
    std::size_t threads = 4;
};

[[nodiscard]] std::string lock_name(std::size_t lock);
[[nodiscard]] std::string resource_path(const std::string& folder, std::size_t lock);
[[nodiscard]] std::string journal_path(const std::string& folder, std::size_t process);

// Returns the exit status for main.
int run_client(const client_options& options);

}  // namespace proofs
