// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Numbers, and the rows of the report.
#pragma once

#include <pawl/types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace bench {

struct settings {
    bool quick = false;  // fewer rounds, only to see that it runs
    std::string only;    // run only the measurements whose id starts with this
    std::string json;    // file for the rows; empty: none
    std::string out;     // folder for the rows and the chart; empty: none
};

// One row of the report. The baseline is the number to compare with, usually the same work
// without Pawl, measured in the same run.
struct row {
    std::string id;
    std::string label;
    std::string unit;
    double measured = 0;
    std::string baseline_name;  // empty: no baseline to compare with
    std::optional<double> baseline{};
    std::optional<double>
        ratio{};  // measured ÷ baseline; the median over rounds if it was measured in rounds
    std::string target;  // for readers: "≤ 1.25"; empty: no target
    std::optional<bool> met{};
    std::string note{};
};

enum class bound { at_most, at_least };

// Sets `ratio` if the row has a baseline, and `target` and `met`. The target applies to the ratio
// if there is one, otherwise to the number itself.
row evaluate(row line, bound which, double target);

[[nodiscard]] double percentile(std::vector<double> values, double share);
[[nodiscard]] inline double median(std::vector<double> values) {
    return percentile(std::move(values), 0.5);
}
[[nodiscard]] double seconds(pawl::duration time);
// Runs `operation` `times` times and returns the duration of each run in µs.
template <class F>
std::vector<double> time_each(int times, F&& operation) {
    std::vector<double> durations;
    durations.reserve(static_cast<std::size_t>(times));
    for (int i = 0; i < times; ++i) {
        const auto before = pawl::boot_clock::now();
        operation();
        durations.push_back(seconds(pawl::boot_clock::now() - before) * 1e6);
    }
    return durations;
}

// Writes one line to standard error, so that the table can be piped.
void progress(const std::string& line);
// "12.3": three significant figures.
[[nodiscard]] std::string format_number(double value);

}  // namespace bench
