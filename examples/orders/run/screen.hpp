// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The output: a progress bar on a terminal, else plain lines; the figures of a run; and a table.
#pragma once

#include "verdict.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace shop {

class progress {
public:
    progress(std::string title, int orders);
    void show(int finished);
    void finish(int finished);

private:
    void draw(int finished, const char* end) const;

    std::string title_;
    int orders_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point drawn_ = began_;
};

void print_figures(const run_options& options, const run_figures& figures);

void print_table_head();
void print_table_row(const run_options& options, const run_figures& figures);

}  // namespace shop
