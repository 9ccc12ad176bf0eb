// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One run of a story: its servers, workers and faults.
#pragma once

#include "audit.hpp"
#include "private_postgres.hpp"

#include <support/process.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace shop {

// PostgreSQL and Redis, or SQLite files for what this build or this machine does not have. The
// servers end with this object.
class servers {
public:
    // `wants_sqlite`: also if PostgreSQL is here.
    explicit servers(bool wants_sqlite);

    [[nodiscard]] std::string make_database();
    [[nodiscard]] std::string lock_url() const;
    // The lock server forgets all locks.
    void empty_locks() const;
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }
    // What runs, for a line of the output.
    [[nodiscard]] std::string text() const;

private:
    support::temporary_folder folder_;
    std::unique_ptr<private_postgres> postgres_;
    std::unique_ptr<support::private_redis> redis_;
    int databases_ = 0;
};

struct run_options {
    story told = story::orders;
    layer_set layers{};
    int orders = 40;
    int lanes = 4;  // orders at the same time
};

// What the layers have cost, and what the faults were.
struct run_figures {
    audit audited;
    int died = 0, stopped = 0, emptied = 0;
    std::uint64_t statements = 0, waits = 0, lost_claims = 0, late_results = 0, calls = 0,
                  most_open = 0;
    std::vector<std::string> failures;  // what customers were told
    int passes = 0;  // of the reconciliation; the last one has found nothing, or is the fifth
    std::uint64_t half_done = 0, repaired = 0;  // orders that it has found and repaired
};

// `on_progress` is called with the number of finished orders, by several threads, one at a time.
[[nodiscard]] run_figures run_story(servers& started, const run_options& options,
                                    const std::function<void(int)>& on_progress);

// True after Ctrl-C: a run then throws std::runtime_error.
extern volatile int interrupted;

}  // namespace shop
