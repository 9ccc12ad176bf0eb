// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A process that uses locks of one library, Pawl's included. It takes commands in lines:
//
//   take NAME TTL_MS                         tries once              -> got | busy
//   wait NAME TTL_MS BOUND_MS                tries for that long     -> got | busy
//   take_as NAME TTL_MS VALUE                tries once, under that value       -> got | busy
//   adopt NAME TTL_MS VALUE                  extends the hold under that value  -> got | busy
//   give                                     releases the hold       -> gave | lost
//   crowd NAME TTL_MS JOURNAL STOP WHO       holds again and again until the file STOP exists;
//                                            each hold is a line "in WHO" and a line "out WHO" in
//                                            the journal             -> late N
//                                            N releases found the hold already ended
#pragma once

#include <conformance/process.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace plain {

struct library {
    std::string name;                // of the test
    std::string language;            // the folder of its program; empty for Pawl itself
    std::string argument;            // the name by which that program knows the library
    std::string key;                 // Pawl's key template for the library's locks
    bool waits_for_signals = false;  // sleeps until its own kind signals, or its ttl is over
    bool has_values = false;         // its user may choose the value of the lock
    bool has_redlock = false;        // takes a lock at a majority of several servers
};

std::ostream& operator<<(std::ostream& out, const library& which);

// Of a service that shares the library's locks on the servers with these ports.
[[nodiscard]] std::string url_of(const library& which, const std::vector<std::uint16_t>& ports);

class peer {
public:
    // The ports of the servers; several for Redlock. Throws std::runtime_error if the process does
    // not get ready.
    peer(const library& which, const std::vector<std::uint16_t>& ports);

    // Throws std::runtime_error if no reply comes.
    [[nodiscard]] std::string execute(const std::string& command);
    void send(const std::string& command);
    [[nodiscard]] std::string read_reply();
    void kill9() { process_.kill_and_reap(); }

private:
    pawl::conformance::child process_;
    std::string name_;
};

// Pawl as such a process, until stdin ends.
int run_pawl(const std::string& url);

}  // namespace plain
