// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps of latches, each in one transaction of a store's connection. docs/backends/sqlite.md
// describes the tables.
#pragma once

#include "core/engine/latch.hpp"
#include "store.hpp"

#include <pawl/spi/latches.hpp>

namespace pawl::sqlite {

// The key of a waiter's row.
struct latch_waiter_key {
    std::string id;
    std::string name;
};

// Used on the worker's thread. Throws as the store does.
class latch_store {
public:
    explicit latch_store(store& file) noexcept : file_(file) {}

    bool try_set(const std::string& name, std::uint32_t count, duration ttl);
    // `parties` is 0 for a latch.
    latches::step step(const std::string& name, std::uint32_t steps, std::uint32_t parties,
                       duration ttl);
    core::latch_state read_state(const std::string& name);
    // Reads the latch, and from then on notifies this waiter.
    core::latch_state join(const latch_waiter_key& waiter);
    void leave(const latch_waiter_key& waiter);
    latch_info inspect(const std::string& name);
    bool reset(const std::string& name);

private:
    struct latch_entry : core::latch_state {
        std::uint32_t parties = 0;
        duration ttl{};
    };

    latch_entry read(const std::string& name, time_point now);
    void write(const std::string& name, latch_entry& entry, time_point now);
    void start_generation(latch_entry& entry, std::uint32_t count, std::uint32_t parties);
    void notify_waiters(const std::string& name, time_point now);

    store& file_;
};

}  // namespace pawl::sqlite
