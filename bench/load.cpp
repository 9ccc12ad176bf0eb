// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The load of `./dev bench cluster`: coroutines of one client, each with a name of its own. A fixed
// number of pairs, so that tools which count can subtract two runs.
#include "workers.hpp"

#include <pawl/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <sys/resource.h>

#include <cstdio>
#include <exception>

namespace bench {

namespace {

namespace asio = boost::asio;

asio::awaitable<void> run_pairs(pawl::client& locks, std::string name, int pairs,
                                pawl::lock_options options) {
    for (int i = 0; i < pairs; ++i) {
        pawl::held_lock lock = co_await locks.async_acquire(name, options, asio::use_awaitable);
        (void)co_await lock.async_release(asio::use_awaitable);
    }
}

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto in_seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

}  // namespace

// For callgrind's --zero-before: what came before is not counted.
[[gnu::noinline]] void begin_to_count() { asm volatile(""); }

int load_process(const std::string& url, int coroutines, int pairs, int replicas) {
    asio::io_context loop(1);
    pawl::client locks(loop.get_executor(), pawl::from_url(url));
    pawl::lock_options options;
    if (replicas > 0)
        options.durable = pawl::durability::replicas(static_cast<std::uint32_t>(replicas));
    const auto run = [&](int pairs_of_each) {
        int running = coroutines;
        for (int i = 0; i < coroutines; ++i)
            asio::co_spawn(loop,
                           run_pairs(locks, "load/" + std::to_string(i), pairs_of_each, options),
                           [&](const std::exception_ptr& failed) {
                               if (failed) std::rethrow_exception(failed);
                               if (--running == 0) loop.stop();
                           });
        loop.run();
        loop.restart();
    };
    // Connects to every server, loads the scripts, and lets the client's list of its last releases
    // grow to its full length.
    run(coroutines == 1 ? 1200 : 1);
    const auto requests = locks.statistics().requests;
    begin_to_count();
    const double used = processor_seconds();
    const auto began = pawl::boot_clock::now();
    run(pairs);
    const double span = seconds(pawl::boot_clock::now() - began);
    char line[128];
    std::snprintf(line, sizeof line, "%.9f %.9f %llu", span, processor_seconds() - used,
                  static_cast<unsigned long long>(locks.statistics().requests - requests));
    write_line(line);
    return 0;
}

}  // namespace bench
