// One lock that everybody wants all the time.
#include "workers.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace bench {

namespace {

void measure_one(const scene& where, int processes, std::vector<row>& rows) {
    const double time = where.how.quick ? 2 : 6;
    const std::string name = "hot/" + std::to_string(processes);
    std::vector<support::child> workers;
    for (int i = 0; i < processes; ++i) {
        workers.push_back(start_worker({"hot", where.url, name, std::to_string(time)}));
    }
    for (const auto& each : workers) {
        next_line(each);
    }
    for (const auto& each : workers) {
        each.write_line("go");
    }
    std::vector<double> counts;
    std::vector<double> p50;
    std::vector<double> p99;
    for (const auto& each : workers) {
        std::istringstream line(next_line(each));
        line >> counts.emplace_back() >> p50.emplace_back() >> p99.emplace_back();
    }
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    const double mean = total / processes;
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    const std::string many = std::to_string(processes) + " processes";
    progress("hot lock, " + many + ": " + figure(total / time) + " acquisitions/s");
    rows.push_back({.id = "hot." + std::to_string(processes) + ".rate",
                    .what = "one hot lock, " + many,
                    .unit = "acquisitions/s",
                    .measured = total / time,
                    .note = "wait p50 " + figure(median(p50) / 1000) + " ms, p99 " +
                            figure(*std::max_element(p99.begin(), p99.end()) / 1000) + " ms"});
    rows.push_back(judged({.id = "hot." + std::to_string(processes) + ".spread",
                           .what = "one hot lock, " + many + ", fewest per process",
                           .unit = "acquisitions",
                           .measured = *least,
                           .limit_name = "mean per process",
                           .limit = mean,
                           .note = "most " + figure(*most)},
                          bound::at_least, 0.5));
}

}  // namespace

void measure_hot(const scene& where, std::vector<row>& rows) {
    for (const int processes : {2, 8, 64}) {
        measure_one(where, processes, rows);
    }
}

}  // namespace bench
