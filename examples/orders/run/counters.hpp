// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the processes of a run count together: in a file that all of them map into their memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace shop {

struct counters {
    std::atomic<std::uint64_t> statements;  // to the database
    std::atomic<std::uint64_t> waits;  // looks at an attempt at work, at orders without a fault
    std::atomic<std::uint64_t> lost_claims;   // commits in vain
    std::atomic<std::uint64_t> late_results;  // results that the record has refused
    std::atomic<std::uint64_t> calls;         // of the outside
    std::atomic<std::uint64_t> open;          // transactions, now
    std::atomic<std::uint64_t> most_open;     // transactions at the same time
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Maps the file, and makes it if it is missing, with zeros. Unmaps in the destructor.
class shared_counters {
public:
    explicit shared_counters(const std::string& file);
    ~shared_counters();
    shared_counters(const shared_counters&) = delete;
    shared_counters& operator=(const shared_counters&) = delete;

    counters& operator*() noexcept { return *counters_; }
    counters* operator->() noexcept { return counters_; }

private:
    counters* counters_;
};

}  // namespace shop
