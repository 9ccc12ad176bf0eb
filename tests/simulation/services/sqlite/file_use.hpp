// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The time in which a program uses the file: a transaction, or the handling of a notification.
#pragma once

#include "host.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {

// Before the use a bug may be injected; after it, the queue in the file is checked.
class file_use {
public:
    explicit file_use(host_program& program);
    ~file_use();
    file_use(const file_use&) = delete;
    file_use& operator=(const file_use&) = delete;

    // How long the store waits for the file.
    [[nodiscard]] duration end() noexcept { return program_.clock->end_use(); }

private:
    struct waiter {
        std::int64_t position;
        std::string name, owner;
        bool is_live;
    };
    struct rows {
        std::vector<waiter> waiters;                            // in their order
        std::set<std::pair<std::string, std::string>> holders;  // names and owners
    };
    [[nodiscard]] rows read() const;
    void check_queue(const rows& after) const;

    host_program& program_;
    int connection_number_ = 0;
    rows before_;
};

}  // namespace pawl::simulation
