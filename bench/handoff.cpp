// From the call of release in one process to running in another, against one PUBLISH that arrives.
#include "workers.hpp"

#include <pawl/blocking.hpp>

#include <stdexcept>

namespace bench {

namespace {

using namespace std::chrono_literals;

pawl::time_point time_said_by(const support::child& worker) {
    return pawl::time_point(pawl::duration(std::stoll(next_line(worker))));
}

}  // namespace

void measure_handoff(const scene& where, std::vector<row>& rows) {
    const int rounds = where.how.quick ? 10 : 60;
    const int times = where.how.quick ? 20 : 50;
    pawl::blocking::client locks(pawl::from_url(where.url));
    support::child waiter = start_worker({"waiter", where.url});
    support::child subscriber = start_worker({"subscriber", std::to_string(where.port)});
    next_line(waiter);
    next_line(subscriber);
    wire publisher(where.port);

    std::vector<double> ours;
    std::vector<double> limits;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
        std::vector<double> handed;
        std::vector<double> trips;
        for (int i = 0; i < times; ++i) {
            auto lock = locks.acquire("bench/hand", {.ttl = 5min});
            waiter.write_line("bench/hand");
            while (locks.inspect("bench/hand").waiters == 0) {}
            auto before = pawl::boot_clock::now();
            lock.release();
            handed.push_back(seconds(time_said_by(waiter) - before) * 1e6);

            before = pawl::boot_clock::now();
            publisher.call({"PUBLISH", "bench", "a message"});
            trips.push_back(seconds(time_said_by(subscriber) - before) * 1e6);
        }
        ours.push_back(median(handed));
        limits.push_back(median(trips));
        ratios.push_back(ours.back() / limits.back());
        if (round % 10 != 9) continue;
        progress("hand-off " + std::to_string(round + 1) + "/" + std::to_string(rounds) +
                 ": PUBLISH to receive " + figure(limits.back()) + " µs, release to running " +
                 figure(ours.back()) + " µs");
    }
    publisher.call({"PUBLISH", "bench", "stop"});
    rows.push_back(judged({.id = "handoff",
                           .what = "hand-off, release to running, two processes, p50",
                           .unit = "µs",
                           .measured = median(ours),
                           .limit_name = "hiredis, PUBLISH to receive, two processes",
                           .limit = median(limits),
                           .ratio = median(ratios)},
                          bound::at_most, 1.5));
}

}  // namespace bench
