// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace bench {

row evaluate(row line, bound which, double target) {
    if (line.baseline && !line.ratio && *line.baseline > 0) {
        line.ratio = line.measured / *line.baseline;
    }
    const double value = line.ratio ? *line.ratio : line.measured;
    line.target = (which == bound::at_most ? "≤ " : "≥ ") + format_number(target);
    line.met = which == bound::at_most ? value <= target : value >= target;
    return line;
}

double percentile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values.at(static_cast<std::size_t>(share * static_cast<double>(values.size() - 1)));
}

double seconds(pawl::duration time) { return std::chrono::duration<double>(time).count(); }

void progress(const std::string& line) { std::fprintf(stderr, "  %s\n", line.c_str()); }

std::string format_number(double value) {
    char text[32];
    const double size = std::abs(value);
    const int digits = size >= 100 || value == std::round(value) ? 0
                       : size >= 10                              ? 1
                       : size >= 0.1                             ? 2
                                                                 : 4;
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

}  // namespace bench
