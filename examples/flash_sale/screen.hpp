// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The output of the flash sale: a progress bar on a terminal, else plain lines; and a table.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace flash_sale {

struct outcome {
    std::string run;
    int items = 0;
    int sold = 0;
    int overlaps = 0;
    int tokens_out_of_order = 0;
    std::optional<double> wait_p50_ms{};  // empty without locks
    std::optional<double> wait_p99_ms{};
    double sales_per_second = 0;
};

class progress {
public:
    progress(std::string run, int buyers);
    void show(int served);
    void finish(int served);
    // A line of its own.
    void note(const std::string& text);

private:
    void draw(int served, const char* end);

    std::string run_;
    int buyers_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point drawn_{};
};

void print_table(const std::vector<outcome>& outcomes);

}  // namespace flash_sale
