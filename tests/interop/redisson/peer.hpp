// Pawl behind a line protocol, as the Java side is (Peer.java): one command a line, one answer a
// line.
#pragma once

#include <string>

namespace interop {

// How many permits there are, as in Taker.java.
inline constexpr int permits = 3;

// Numbers that all processes share.
struct gate {
    static gate& at(const std::string& file);
    // Goes through with as many permits of a semaphore that has `all`; 1 of 1 for a lock.
    void pass(int count = 1, int all = 1);
    void read();

    long inside;    // writers, or permits
    long wrong;     // how often there were too many
    long readers;   // at this moment
    long together;  // how often somebody met another who may be there too
};

// URL TTL_MS. Serves until its input ends.
int run_peer(const std::string& url, const std::string& ttl_ms);

}  // namespace interop
