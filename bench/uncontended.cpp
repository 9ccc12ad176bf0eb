// One thread, one free lock: acquire and release, against hiredis that sends the same two scripts.
#include "workers.hpp"

#include <pawl/blocking.hpp>
#include <pawl/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <stdexcept>

namespace bench {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> pairs(pawl::client& locks, int times, std::vector<double>& taken) {
    for (int i = 0; i < times; ++i) {
        const auto before = pawl::boot_clock::now();
        pawl::held_lock lock = co_await locks.async_acquire("bench/pair", {}, asio::use_awaitable);
        co_await lock.async_release(asio::use_awaitable);
        taken.push_back(seconds(pawl::boot_clock::now() - before) * 1e6);
    }
}

std::vector<double> by_coroutine(asio::io_context& loop, pawl::client& locks, int times) {
    std::vector<double> taken;
    asio::co_spawn(loop, pairs(locks, times, taken), [&](std::exception_ptr failed) {
        loop.stop();
        if (failed) {
            std::rethrow_exception(failed);
        }
    });
    loop.run();
    loop.restart();
    return taken;
}

}  // namespace

recorded_pair record_pair(const scene& where) {
    pawl::blocking::client locks(pawl::from_url(where.url));
    locks.acquire("bench/pair").release();  // connects, and sends the scripts' texts
    monitor watch(where.port);
    locks.acquire("bench/pair").release();
    watch.mark();
    std::vector<words> sent;
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

void measure_uncontended(const scene& where, std::vector<row>& rows) {
    const recorded_pair pair = record_pair(where);
    // Many short rounds: what disturbs the machine then disturbs all three alike.
    const int rounds = where.how.quick ? 10 : 100;
    const int times = where.how.quick ? 100 : 300;

    wire limit(where.port);
    asio::io_context loop;
    pawl::client async_locks(loop.get_executor(), pawl::from_url(where.url));
    std::vector<double> limits;
    std::vector<double> blocking;
    std::vector<double> coroutine;
    std::vector<double> blocking_ratio;
    std::vector<double> coroutine_ratio;
    for (int round = 0; round < rounds; ++round) {
        limits.push_back(median(time_each(times, [&] {
            limit.call(pair.acquire);
            limit.call(pair.release);
        })));
        {
            pawl::blocking::client locks(pawl::from_url(where.url));
            locks.acquire("bench/pair").release();
            blocking.push_back(
                median(time_each(times, [&] { locks.acquire("bench/pair").release(); })));
        }
        coroutine.push_back(median(by_coroutine(loop, async_locks, times)));
        blocking_ratio.push_back(blocking.back() / limits.back());
        coroutine_ratio.push_back(coroutine.back() / limits.back());
        if (round % 10 != 9) continue;
        progress("pair " + std::to_string(round + 1) + "/" + std::to_string(rounds) + ": hiredis " +
                 figure(limits.back()) + " µs, blocking " + figure(blocking.back()) +
                 " µs, coroutine " + figure(coroutine.back()) + " µs");
    }
    const std::string name = "blocking hiredis, the same two scripts";
    rows.push_back(judged({.id = "pair.blocking",
                           .what = "acquire + release, blocking, p50",
                           .unit = "µs",
                           .measured = median(blocking),
                           .limit_name = name,
                           .limit = median(limits),
                           .ratio = median(blocking_ratio)},
                          bound::at_most, 1.25));
    rows.push_back(judged({.id = "pair.coroutine",
                           .what = "acquire + release, coroutine, p50",
                           .unit = "µs",
                           .measured = median(coroutine),
                           .limit_name = name,
                           .limit = median(limits),
                           .ratio = median(coroutine_ratio)},
                          bound::at_most, 1.35));
}

}  // namespace bench
