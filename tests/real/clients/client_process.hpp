// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client process: threads that acquire locks again and again, work with the resource of the lock
// meanwhile, and record what they believe, until stdin ends.
//
// A line on stdin is the folder of another round: the threads release their holds and end, the
// journal of the new round is created, and new threads begin after the next line. The connections
// stay.
#pragma once

#include <real/servers/environment.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace real {

struct client_options {
    client_access access;
    std::string folder;                       // of journals and resources
    std::size_t process = 0;                  // the number of this process, never used twice
    std::size_t locks = 0;                    // their names are those of `lock_name`
    bool checks_tokens = true;                // the resource does
    std::chrono::milliseconds longest_ttl{};  // of the leases
    std::size_t threads = 4;
    bool has_long_holds = true;  // some last for seconds
    std::string outputs{};       // a folder for what the process prints; empty: `folder`
};

[[nodiscard]] std::string lock_name(std::size_t lock);

// The arguments of a helper process that runs `run_client`, and their reader. Empty: they are no
// such arguments.
[[nodiscard]] std::vector<std::string> client_words(const client_options& options);
[[nodiscard]] std::optional<client_options> read_client_words(
    const std::vector<std::string>& words);

// Returns the exit status for main.
int run_client(const client_options& options);

}  // namespace real
