// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One thread and one free lock: acquire and release, compared with hiredis and the same two
// scripts.
#include "workers.hpp"

#include <pawl/blocking.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <stdexcept>

namespace bench {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> run_timed_pairs(pawl::client& locks, std::string name, int times,
                                      std::vector<double>& durations) {
    for (int i = 0; i < times; ++i) {
        const auto before = pawl::boot_clock::now();
        pawl::held_lock lock = co_await locks.async_acquire(name, {}, asio::use_awaitable);
        (void)co_await lock.async_release(asio::use_awaitable);
        durations.push_back(seconds(pawl::boot_clock::now() - before) * 1e6);
    }
}

}  // namespace

std::vector<double> time_pairs(asio::io_context& loop, pawl::client& locks, const std::string& name,
                               int times) {
    std::vector<double> durations;
    asio::co_spawn(loop, run_timed_pairs(locks, name, times, durations),
                   [&](std::exception_ptr failed) {
                       loop.stop();
                       if (failed) {
                           std::rethrow_exception(failed);
                       }
                   });
    loop.run();
    loop.restart();
    return durations;
}

recorded_pair record_pair(const bench_context& context) {
    pawl::blocking::client locks(pawl::from_url(context.url));
    (void)locks.acquire("bench/pair").release();  // connects, and loads the scripts
    monitor watch(context.port);
    (void)locks.acquire("bench/pair").release();
    watch.mark();
    std::vector<command_words> sent;
    for (const auto& line : watch.until_mark()) {
        if (!line.in_script) {
            sent.push_back(line.command);
        }
    }
    if (sent.size() != 2) {
        throw std::runtime_error("an uncontended pair took " + std::to_string(sent.size()) +
                                 " requests");
    }
    return {sent[0], sent[1]};
}

void measure_uncontended(const bench_context& context, std::vector<row>& rows) {
    const recorded_pair pair = record_pair(context);
    // Many short rounds, so that a disturbance of the machine affects all three alike.
    const int rounds = context.options.quick ? 10 : 100;
    const int times = context.options.quick ? 100 : 300;

    hiredis_client baseline(context.port);
    asio::io_context loop;
    pawl::client async_locks(loop.get_executor(), pawl::from_url(context.url));
    std::vector<double> baselines;
    std::vector<double> blocking;
    std::vector<double> coroutine;
    std::vector<double> blocking_ratio;
    std::vector<double> coroutine_ratio;
    for (int round = 0; round < rounds; ++round) {
        baselines.push_back(median(time_each(times, [&] {
            baseline.call(pair.acquire);
            baseline.call(pair.release);
        })));
        {
            pawl::blocking::client locks(pawl::from_url(context.url));
            (void)locks.acquire("bench/pair").release();
            blocking.push_back(
                median(time_each(times, [&] { (void)locks.acquire("bench/pair").release(); })));
        }
        coroutine.push_back(median(time_pairs(loop, async_locks, "bench/pair", times)));
        blocking_ratio.push_back(blocking.back() / baselines.back());
        coroutine_ratio.push_back(coroutine.back() / baselines.back());
        if (round % 10 != 9) continue;
        progress("pair " + std::to_string(round + 1) + "/" + std::to_string(rounds) + ": hiredis " +
                 format_number(baselines.back()) + " µs, blocking " +
                 format_number(blocking.back()) + " µs, coroutine " +
                 format_number(coroutine.back()) + " µs");
    }
    const std::string name = "blocking hiredis, the same two scripts";
    rows.push_back(evaluate({.id = "pair.blocking",
                             .label = "acquire + release, blocking, p50",
                             .unit = "µs",
                             .measured = median(blocking),
                             .baseline_name = name,
                             .baseline = median(baselines),
                             .ratio = median(blocking_ratio)},
                            bound::at_most, 1.25));
    rows.push_back(evaluate({.id = "pair.coroutine",
                             .label = "acquire + release, coroutine, p50",
                             .unit = "µs",
                             .measured = median(coroutine),
                             .baseline_name = name,
                             .baseline = median(baselines),
                             .ratio = median(coroutine_ratio)},
                            bound::at_most, 1.35));
}

}  // namespace bench
