// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One lock that many processes want all the time.
#include "workers.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace bench {

namespace {

void measure_hot_lock(const bench_context& context, int processes, std::vector<row>& rows) {
    const double time = context.options.quick ? 2 : 6;
    const std::string name = "hot/" + std::to_string(processes);
    std::vector<support::child> workers;
    for (int i = 0; i < processes; ++i) {
        workers.push_back(start_worker({"hot", context.url, name, std::to_string(time)}));
    }
    for (const auto& each : workers) {
        read_line(each);
    }
    for (const auto& each : workers) {
        each.write_line("go");
    }
    std::vector<double> counts;
    std::vector<double> p50;
    std::vector<double> p99;
    for (const auto& each : workers) {
        std::istringstream line(read_line(each));
        line >> counts.emplace_back() >> p50.emplace_back() >> p99.emplace_back();
    }
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    const double mean = total / processes;
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    const std::string many = std::to_string(processes) + " processes";
    progress("hot lock, " + many + ": " + format_number(total / time) + " acquisitions/s");
    rows.push_back({.id = "hot." + std::to_string(processes) + ".rate",
                    .label = "one hot lock, " + many,
                    .unit = "acquisitions/s",
                    .measured = total / time,
                    .note = "wait p50 " + format_number(median(p50) / 1000) + " ms, p99 " +
                            format_number(*std::max_element(p99.begin(), p99.end()) / 1000) +
                            " ms"});
    rows.push_back(evaluate({.id = "hot." + std::to_string(processes) + ".spread",
                             .label = "one hot lock, " + many + ", fewest per process",
                             .unit = "acquisitions",
                             .measured = *least,
                             .baseline_name = "mean per process",
                             .baseline = mean,
                             .note = "most " + format_number(*most)},
                            bound::at_least, 0.5));
}

}  // namespace

void measure_hot(const bench_context& context, std::vector<row>& rows) {
    for (const int processes : {2, 8, 64}) {
        measure_hot_lock(context, processes, rows);
    }
}

}  // namespace bench
