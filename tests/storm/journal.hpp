// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The records of the storm's processes, and the resource that they write to.
#pragma once

#include <support/history.hpp>
#include <support/journal.hpp>

#include <atomic>
#include <cstddef>
#include <string>

namespace storm {

using support::journal;

// The fenced resource that the lock guards, in memory that all processes share: the accepted
// tokens, in its own order. Comparing and accepting is one step, and a process that is killed or
// stopped anywhere cannot block the others.
class resource {
public:
    explicit resource(const std::string& folder);
    resource(const resource&) = delete;
    resource& operator=(const resource&) = delete;
    ~resource();

    // False: a larger token was here before.
    bool accept_token(std::uint64_t token) const;

private:
    using cell = std::atomic<std::uint64_t>;
    cell* cells_;
};

// The records of all processes of the storm.
struct storm_record {
    support::history history;
    int late_count = 0;  // holders that found their lock lost
    int refused = 0;     // writes that the resource refused
};

[[nodiscard]] storm_record read_records(const std::string& folder);

// Whether the process with the journal at this path has a lock that it has not begun to release.
[[nodiscard]] bool has_hold(const std::string& journal_path);
// How often that process found its lock lost.
[[nodiscard]] int count_late(const std::string& journal_path);

}  // namespace storm
