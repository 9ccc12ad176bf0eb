// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Counts what the clients have recorded so far, while they go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace real {

struct journal_counts {
    std::size_t holds = 0;
    std::size_t losses = 0;   // that were reported to their holders
    std::size_t refused = 0;  // by the resources
    std::size_t errors = 0;   // of acquires

    journal_counts& operator+=(const journal_counts& more) noexcept {
        holds += more.holds;
        losses += more.losses;
        refused += more.refused;
        errors += more.errors;
        return *this;
    }
};

// Of one round.
class journal_counter {
public:
    explicit journal_counter(std::string folder) : folder_(std::move(folder)) {}

    // Reads what is new in the journals of processes 0, 1, …
    const journal_counts& update(std::size_t processes);

private:
    void read(std::size_t process);
    void count(const std::string& line);

    std::string folder_;
    std::vector<std::uint64_t> positions_;  // in the journals: the ends of what is counted
    journal_counts counts_;
};

}  // namespace real
