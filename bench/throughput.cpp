// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A thousand coroutines, one client, different names; against redis-benchmark with the same
// scripts.
#include "workers.hpp"

#include <pawl/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace bench {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr int coroutines = 1000;

struct tally {
    pawl::time_point end{};
    long pairs = 0;
    int running = 0;
};

asio::awaitable<void> acquire_and_release(pawl::client& locks, std::string name, tally& count) {
    while (pawl::boot_clock::now() < count.end) {
        pawl::held_lock lock = co_await locks.async_acquire(name, {}, asio::use_awaitable);
        (void)co_await lock.async_release(asio::use_awaitable);
        ++count.pairs;
    }
}

// Processor seconds used by this process and by the server.
struct processor_time {
    double client = 0;
    double server = 0;
};

processor_time processor_time_now(const bench_context& context) {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto in_seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    hiredis_client server(context.port);
    return {in_seconds(used.ru_utime) + in_seconds(used.ru_stime),
            std::stod(server.info("cpu", "used_cpu_user")) +
                std::stod(server.info("cpu", "used_cpu_sys"))};
}

struct throughput {
    double pairs_per_second = 0;
    processor_time per_pair;
};

throughput run_coroutines(const bench_context& context, pawl::duration time) {
    asio::io_context loop(1);
    pawl::client locks(loop.get_executor(), pawl::from_url(context.url));
    tally count;
    const auto before = processor_time_now(context);
    const auto began = pawl::boot_clock::now();
    count.end = began + time;
    for (int i = 0; i < coroutines; ++i) {
        ++count.running;
        asio::co_spawn(loop, acquire_and_release(locks, "many/" + std::to_string(i), count),
                       [&](std::exception_ptr failed) {
                           if (failed) {
                               std::rethrow_exception(failed);
                           }
                           if (--count.running == 0) {
                               loop.stop();
                           }
                       });
    }
    loop.run();
    const double span = seconds(pawl::boot_clock::now() - began);
    const auto after = processor_time_now(context);
    const auto pairs = static_cast<double>(count.pairs);
    return {pairs / span,
            {(after.client - before.client) / pairs, (after.server - before.server) / pairs}};
}

void replace_name(command_words& command, const std::string& replacement) {
    const std::string name = "bench/pair";
    for (std::string& each : command) {
        for (auto at = each.find(name); at != std::string::npos;
             at = each.find(name, at + replacement.size())) {
            each.replace(at, name.size(), replacement);
        }
    }
}

// Requests per second, as redis-benchmark reports them.
double run_redis_benchmark(const bench_context& context, command_words command, int requests,
                           int names) {
    replace_name(command, "__rand_int__");
    std::vector<std::string> arguments{
        "-p", std::to_string(context.port), "-P", "64", "-q", "-n", std::to_string(requests),
        "-r", std::to_string(names)};
    arguments.insert(arguments.end(), command.begin(), command.end());
    support::child program("redis-benchmark", arguments);
    // redis-benchmark ends its lines in \r while it works; the last number counts.
    double result = 0;
    try {
        for (;;) {
            const std::string line = read_line(program);
            const auto at = line.rfind(" requests per second");
            if (at != std::string::npos) {
                result = std::stod(line.substr(line.rfind(' ', at - 1) + 1));
            }
        }
    } catch (const std::runtime_error&) {
        if (const int status = program.wait(); status != 0 || result == 0) {
            throw std::runtime_error("redis-benchmark failed: install the package redis-tools");
        }
    }
    return result;
}

// Acquires of free locks, then releases of held locks, because redis-benchmark sends one command at
// a time.
double baseline_pairs_per_second(const bench_context& context, const recorded_pair& pair,
                                 int requests) {
    hiredis_client server(context.port);
    server.call({"FLUSHALL"});
    const double acquires = run_redis_benchmark(context, pair.acquire, requests, 100'000'000);

    server.call({"FLUSHALL"});
    const int names = requests * 4;
    const std::string& lock = pair.release.at(3);
    const std::string& value = pair.release.at(3 + std::stoul(pair.release.at(2)));
    std::vector<command_words> sets;
    for (int i = 0; i < names; ++i) {
        char number[16];
        std::snprintf(number, sizeof number, "%012d", i);
        command_words set{"SET", lock, value};
        replace_name(set, number);
        sets.push_back(std::move(set));
        if (sets.size() == 1000) {
            server.pipeline(sets);
            sets.clear();
        }
    }
    server.pipeline(sets);
    const double releases = run_redis_benchmark(context, pair.release, requests, names);
    server.call({"FLUSHALL"});
    return 1 / (1 / acquires + 1 / releases);
}

}  // namespace

void measure_throughput(const bench_context& context, std::vector<row>& rows) {
    const recorded_pair pair = record_pair(context);
    const int rounds = context.options.quick ? 1 : 5;
    const int requests = context.options.quick ? 20'000 : 150'000;
    std::vector<double> measured_values;
    std::vector<double> baselines;
    std::vector<double> ratios;
    processor_time used;
    for (int round = 0; round < rounds; ++round) {
        baselines.push_back(baseline_pairs_per_second(context, pair, requests));
        const throughput result = run_coroutines(context, context.options.quick ? 1s : 4s);
        measured_values.push_back(result.pairs_per_second);
        used = result.per_pair;
        ratios.push_back(measured_values.back() / baselines.back());
        progress("throughput " + std::to_string(round + 1) + "/" + std::to_string(rounds) +
                 ": redis-benchmark " + format_number(baselines.back()) +
                 " pairs/s, 1,000 coroutines " + format_number(measured_values.back()) +
                 " pairs/s");
    }
    rows.push_back(
        evaluate({.id = "throughput",
                  .label = "1,000 coroutines, one client, different names",
                  .unit = "pairs/s",
                  .measured = median(measured_values),
                  .baseline_name = "redis-benchmark -P 64, the same scripts",
                  .baseline = median(baselines),
                  .ratio = median(ratios),
                  .note = "processor time per pair: client " + format_number(used.client * 1e6) +
                          " µs, server " + format_number(used.server * 1e6) + " µs"},
                 bound::at_least, 0.7));
}

}  // namespace bench
