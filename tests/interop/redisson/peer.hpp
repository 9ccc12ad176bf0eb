// Pawl behind a line protocol, as the Java side is (Peer.java): one command a line, one answer a
// line.
#pragma once

#include <string>

namespace interop {

// Two numbers that all processes share: how many are inside, and how often there was another one.
struct gate {
    static gate& at(const std::string& file);
    void pass();

    long inside;
    long shared;
};

// URL TTL_MS. Serves until its input ends.
int run_peer(const std::string& url, const std::string& ttl_ms);

}  // namespace interop
