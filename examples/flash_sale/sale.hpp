// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One run of the sale: its shops, and what the ledger shows afterwards.
#pragma once

#include "screen.hpp"

#include <signal.h>

#include <functional>
#include <string>

namespace flash_sale {

inline constexpr int processes = 8;
inline constexpr int buyers = 400;
inline constexpr int items = 100;
inline constexpr int think_us = 20000;

// Set by a signal. The run then throws, and every process that it has started ends.
extern volatile sig_atomic_t interrupted;

struct plan {
    std::string name;
    std::string url;  // empty: no lock
    int shelves = 1;
};

// Calls `on_sales` with the number of sales so far, again and again. The text that it returns is
// shown, unless it is empty.
outcome run(const plan& scenario, const std::function<std::string(int)>& on_sales = {});

}  // namespace flash_sale
