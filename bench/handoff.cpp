// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// From the call of release in one process until another process runs, compared with one PUBLISH
// until its receipt.
#include "workers.hpp"

#include <pawl/blocking.hpp>

#include <stdexcept>

namespace bench {

namespace {

using namespace std::chrono_literals;

pawl::time_point read_time(const support::child& worker) {
    return pawl::time_point(pawl::duration(std::stoll(read_line(worker))));
}

}  // namespace

void measure_handoff(const bench_context& context, std::vector<row>& rows) {
    const int rounds = context.options.quick ? 10 : 60;
    const int times = context.options.quick ? 20 : 50;
    pawl::blocking::client locks(pawl::from_url(context.url));
    support::child waiter = start_worker({"waiter", context.url});
    support::child subscriber = start_worker({"subscriber", std::to_string(context.port)});
    read_line(waiter);
    read_line(subscriber);
    hiredis_client publisher(context.port);

    std::vector<double> measured_values;
    std::vector<double> baselines;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
        std::vector<double> handoffs;
        std::vector<double> trips;
        for (int i = 0; i < times; ++i) {
            auto lock = locks.acquire("bench/hand", {.ttl = 5min});
            waiter.write_line("bench/hand");
            while (locks.inspect("bench/hand").waiters == 0) {}
            auto before = pawl::boot_clock::now();
            (void)lock.release();
            handoffs.push_back(seconds(read_time(waiter) - before) * 1e6);

            before = pawl::boot_clock::now();
            publisher.call({"PUBLISH", "bench", "a message"});
            trips.push_back(seconds(read_time(subscriber) - before) * 1e6);
        }
        measured_values.push_back(median(handoffs));
        baselines.push_back(median(trips));
        ratios.push_back(measured_values.back() / baselines.back());
        if (round % 10 != 9) continue;
        progress("hand-off " + std::to_string(round + 1) + "/" + std::to_string(rounds) +
                 ": PUBLISH to receive " + format_number(baselines.back()) +
                 " µs, release to running " + format_number(measured_values.back()) + " µs");
    }
    publisher.call({"PUBLISH", "bench", "stop"});
    rows.push_back(evaluate({.id = "handoff",
                             .label = "hand-off, release to running, two processes, p50",
                             .unit = "µs",
                             .measured = median(measured_values),
                             .baseline_name = "hiredis, PUBLISH to receive, two processes",
                             .baseline = median(baselines),
                             .ratio = median(ratios)},
                            bound::at_most, 1.5));
}

}  // namespace bench
