// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The latches in the file. core/store/latch_table.hpp has the rules; docs/backends/sqlite.md
// describes the tables.
#pragma once

#include "store.hpp"

#include "core/store/latch_table.hpp"

namespace pawl::sqlite {

// The row of one latch in one transaction. `file` and `name` outlive it.
class latch_rows {
public:
    latch_rows(lock_file& file, const std::string& name, time_point now) noexcept
        : file_(file), name_(name), now_(now) {}

    core::latch_entry read();
    void write(const core::latch_entry& entry);
    void erase();
    // The token counter also numbers the generations, so that no number repeats.
    std::uint64_t next_generation() { return static_cast<std::uint64_t>(file_.issue_token()); }
    // One notification for each client; the client finds its own waiters.
    void notify_waiters();
    std::uint64_t count_waiters();
    void insert_waiter(const std::string& id);
    void erase_waiter(const std::string& id);

private:
    lock_file& file_;
    const std::string& name_;
    const time_point now_;
};

// The key of a waiter's row.
struct latch_waiter_key {
    std::string id;
    std::string name;
};

// Used on the worker. Throws as the store does.
class latch_store {
public:
    using table = core::latch_table<latch_rows>;

    explicit latch_store(store& locks) noexcept : file_(locks.file()) {}

    // Runs a step in a transaction.
    template <class Step>
    auto run(const std::string& name, Step step) {
        return file_.transact(sync_level::normal, [&](time_point now) {
            latch_rows rows(file_, name, now);
            table latch(rows, name, now);
            return step(latch);
        });
    }
    core::latch_state read_state(const std::string& name);
    // Reads the latch, and from then on notifies this waiter.
    core::latch_state join(const latch_waiter_key& waiter);
    void leave(const latch_waiter_key& waiter);
    latch_info inspect(const std::string& name);

private:
    lock_file& file_;
};

}  // namespace pawl::sqlite
