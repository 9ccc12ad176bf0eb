// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One shop: a process with some of the buyers, each of them a thread.
#pragma once

#include <string>
#include <vector>

namespace flash_sale {

struct shop_options {
    std::string folder;  // the shelves and the ledger
    std::string url;     // of the lock service; empty: no locks
    int shelves = 1;
    int first_buyer = 0;
    int buyers = 0;
    int think_us = 0;  // between reading the stock and writing it back

    [[nodiscard]] std::vector<std::string> to_arguments() const;
    static shop_options from_arguments(int argc, char** argv);
};

// Writes "ready" to standard output, and starts when a line arrives on standard input. Writes "done
// WAITED_US" for each buyer, with the time for which the buyer waited for locks, in microseconds.
int run_shop(const shop_options& options);

}  // namespace flash_sale
