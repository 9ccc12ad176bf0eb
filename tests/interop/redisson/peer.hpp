// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Pawl behind a line protocol, the same as the Java side's (Peer.java): one command a line, one
// reply a line.
#pragma once

#include <cstddef>
#include <string>

namespace interop {

// The total number of permits, as in Acquirer.java.
inline constexpr int permits = 3;

// Checks from outside of the server who is in the lock: numbers in memory that all processes share.
struct gate {
    // Maps the file, which has one gate after the other, and returns the gate `index`.
    static gate& at(const std::string& file, std::size_t index = 0);
    // Enters and leaves with `count` permits of a semaphore that has `all`; 1 of 1 for a lock.
    void pass(int count = 1, int all = 1);
    // Enters and leaves as a reader.
    void read();

    long inside;      // writers, or permits
    long violations;  // how often there were too many
    long readers;     // at this moment
    long meetings;    // how often a process met another that was permitted too
};

// URL TTL_MS. Serves until its input ends.
int run_peer(const std::string& url, const std::string& ttl_ms);

}  // namespace interop
