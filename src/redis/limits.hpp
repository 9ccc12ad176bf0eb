// The bounds of a client of the Redis backend. The simulation makes some of them tiny, so that
// every one of them is met.
#pragma once

#include <pawl/types.hpp>

#include <cstddef>
#include <cstdint>

namespace pawl::redis {

struct limits {
    // Between a request that was refused or not answered and its repetition: see back_off.hpp.
    duration first_pause = std::chrono::milliseconds(100);
    duration longest_pause = std::chrono::seconds(2);
    // Requests that are to be undone. While there are so many, nothing new is asked for.
    std::size_t undos = 4096;
    // How many of them are under way at once.
    std::size_t undos_at_once = 64;
    // A waiter keeps its place by looking. A waiter behind a dead one that does not fit waits no
    // longer than this.
    std::int64_t waiter_lease_ms = 1900;
    // How long a waiter that was given the lock has to claim it.
    duration claim_window = std::chrono::milliseconds(1200);
    // Between looks for which the server's word about a changed key is the reason: other libraries
    // may renew their locks many times a second.
    duration told_look_pause = std::chrono::milliseconds(250);
    // How often in a row a lock may stay within one process while others wait.
    unsigned local_passes = 8;
    // Holds that one script renews.
    std::size_t renewals = 256;
    // Messages that a latch's waiter has not read yet; with more it looks at the latch instead.
    std::size_t messages = 64;
    // Of one listing: time, requests, and different keys. A server that never says that the list is
    // over meets one of them.
    duration scan_time = std::chrono::seconds(60);
    std::size_t scan_requests = 1'000'000;
    std::size_t scanned_keys = 1'000'000;
};

}  // namespace pawl::redis
