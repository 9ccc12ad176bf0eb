// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The cost of ten thousand locks held by one client.
#include "workers.hpp"

#include <pawl/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

namespace bench {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

double resident_bytes() {
    ::malloc_trim(0);
    std::ifstream file("/proc/self/statm");
    double whole = 0;
    double resident = 0;
    file >> whole >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto in_seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
}

struct lock_set {
    std::string prefix;
    std::vector<pawl::held_lock> locks;
};

// A few coroutines acquire the locks, one lock after the other. So the measurement shows held locks
// and not buffers of requests in flight.
constexpr std::size_t lanes = 16;

asio::awaitable<void> acquire_lane(pawl::client& locks, std::size_t lane, pawl::duration ttl,
                                   lock_set& held) {
    for (std::size_t i = lane; i < held.locks.size(); i += lanes) {
        const pawl::lock_options options{.ttl = ttl};
        std::string name = held.prefix + std::to_string(i);
        held.locks[i] = co_await locks.async_acquire(std::move(name), options, asio::use_awaitable);
    }
}

void acquire_all(asio::io_context& loop, pawl::client& locks, pawl::duration ttl, lock_set& held) {
    std::size_t running = lanes;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        asio::co_spawn(loop, acquire_lane(locks, lane, ttl, held), [&](std::exception_ptr failed) {
            if (failed) {
                std::rethrow_exception(failed);
            }
            if (--running == 0) {
                loop.stop();
            }
        });
    }
    loop.run();
    loop.restart();
}

}  // namespace

// Acquires the locks and writes "held BYTES". The first input line starts the measurement; after
// the second, the process writes "cpu SECONDS lost N".
int holder_process(const std::string& url, int locks, int ttl_ms) {
    asio::io_context loop(1);
    pawl::client client(loop.get_executor(), pawl::from_url(url));
    const auto ttl = std::chrono::milliseconds(ttl_ms);
    lock_set first{.prefix = "first/", .locks = std::vector<pawl::held_lock>(64)};
    acquire_all(loop, client, ttl, first);  // the connection and its buffers exist now
    const double before = resident_bytes();
    lock_set held{.prefix = "held/",
                  .locks = std::vector<pawl::held_lock>(static_cast<std::size_t>(locks))};
    acquire_all(loop, client, ttl, held);
    const double bytes = (resident_bytes() - before) / locks;
    std::thread runner([&] { loop.run(); });
    write_line("held " + std::to_string(bytes));
    std::string go;
    std::getline(std::cin, go);
    const double began = cpu_seconds();
    std::getline(std::cin, go);
    const auto lost = std::count_if(
        held.locks.begin(), held.locks.end(),
        [](const pawl::held_lock& each) { return each.state() == pawl::lock_state::lost; });
    write_line("cpu " + std::to_string(cpu_seconds() - began) + " lost " + std::to_string(lost));
    std::cout.flush();
    ::_exit(0);  // the release of ten thousand locks is not measured
}

void measure_held(const bench_context& context, std::vector<row>& rows) {
    constexpr int locks = 10'000;
    const int ttl_ms = context.options.quick ? 6'000 : 30'000;
    progress("10,000 held locks, " + std::to_string(ttl_ms / 1000) + " s of renewing");
    hiredis_client server(context.port);
    server.call({"FLUSHALL"});
    const double memory_before = std::stod(server.info("memory", "used_memory"));
    support::child holder =
        start_worker({"holder", context.url, std::to_string(locks), std::to_string(ttl_ms)});
    std::string word;
    double bytes = 0;
    std::istringstream(read_line(holder)) >> word >> bytes;
    const double server_bytes =
        (std::stod(server.info("memory", "used_memory")) - memory_before) / locks;

    const auto calls_before = server.calls_per_command();
    holder.write_line("begin");
    const auto began = pawl::boot_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(ttl_ms));
    const auto calls = difference(calls_before, server.calls_per_command());
    const double span = seconds(pawl::boot_clock::now() - began);
    holder.write_line("end");
    double cpu = 0;
    int lost = 0;
    std::istringstream(read_line(holder)) >> word >> cpu >> word >> lost;

    const double requests =
        calls.contains("evalsha") ? static_cast<double>(calls.at("evalsha")) : 0;
    const double thirds = span / (ttl_ms / 3000.0);
    rows.push_back(evaluate(
        {.id = "held.requests",
         .label = "renewals of 10,000 locks, per 100 locks and ttl/3",
         .unit = "requests",
         .measured = requests / (locks / 100.0) / thirds,
         .note = format_number(requests / span) + " requests/s; lost " + std::to_string(lost)},
        bound::at_most, 1));
    rows.push_back({.id = "held.cpu",
                    .label = "renewals of 10,000 locks, processor time",
                    .unit = "s per s",
                    .measured = cpu / span,
                    .note = "ttl " + std::to_string(ttl_ms / 1000) + " s"});
    rows.push_back(evaluate({.id = "held.memory",
                             .label = "memory per held lock",
                             .unit = "bytes",
                             .measured = bytes,
                             .note = "growth of the resident set; at the server " +
                                     format_number(server_bytes) + " bytes"},
                            bound::at_most, 1024));
}

}  // namespace bench
