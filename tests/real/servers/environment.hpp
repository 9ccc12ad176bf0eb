// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers under test, with their faults and their history. An environment knows nothing about
// locks. For other servers derive another class, and add it to environments.cpp; clients, records
// and checker stay the same.
#pragma once

#include "fault.hpp"

#include <real/record/server_history.hpp>

#include <support/redis_server.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace real {

struct environment_options {
    // The clients use these keys, so faults strike the servers that have one of them. The history
    // refers to the keys by their position.
    std::vector<std::string> keys{};
    std::chrono::milliseconds longest_ttl{};  // of the keys
    std::size_t clients = 0;                  // processes
};

// Pawl's own, or what a program would do without them: see naive_variant.
enum class safeguards { pawl, naive };

struct client_access {
    std::string url;
    // With naive tokens, Unix sockets of servers: a token is the largest answer to INCR among a
    // majority of them. Empty: the tokens are those of the URL.
    std::vector<std::string> counters{};
    // Whether some of the holders are readers. Naive tokens are a writer's.
    bool has_readers = true;
    // One of so many holds lasts for up to 3 s.
    unsigned long_hold_interval = 40;
    // Half of the holds have this ttl.
    std::chrono::milliseconds shortest_ttl{1000};
};

class environment {
public:
    environment() = default;
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    virtual ~environment() = default;

    // For `naive`, it also changes the settings of the servers.
    [[nodiscard]] virtual client_access access(safeguards wanted) = 0;
    // Where client process i runs.
    [[nodiscard]] virtual support::machine client_machine(std::size_t index) const = 0;
    // The faults can be run while the environment lives, one at a time. Their names are those of
    // the environment's entry in environments.cpp.
    [[nodiscard]] virtual std::vector<fault> faults() = 0;
    // What the servers have been since the start, in any order.
    [[nodiscard]] virtual std::vector<server_period> history() = 0;
    // Those that the guarantee table of these servers excludes.
    [[nodiscard]] virtual std::vector<memory_loss> memory_losses() { return {}; }
    // Of the servers that run, to measure their memory. None for a store without servers.
    [[nodiscard]] virtual std::vector<pid_t> server_processes() { return {}; }
    // The end of each server's log, to explain why the servers do not recover.
    [[nodiscard]] virtual std::string logs() = 0;
};

}  // namespace real
