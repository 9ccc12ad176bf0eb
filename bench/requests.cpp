// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The number of requests per uncontended pair, per hand-off, and by one waiter that only waits.
#include "workers.hpp"

#include <pawl/blocking.hpp>

#include <map>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using namespace std::chrono_literals;

struct command_counts {
    std::map<std::string, int> sent;       // by clients
    std::map<std::string, int> in_script;  // by the scripts
};

command_counts count(const std::vector<monitor::line>& lines) {
    command_counts result;
    for (const auto& line : lines) {
        ++(line.in_script ? result.in_script : result.sent)[name_of(line.command)];
    }
    return result;
}

int total(const std::map<std::string, int>& counts) {
    int sum = 0;
    for (const auto& [name, calls] : counts) {
        sum += calls;
    }
    return sum;
}

std::string format_counts(const std::map<std::string, int>& counts, double per) {
    std::string text;
    for (const auto& [name, calls] : counts) {
        text += (text.empty() ? "" : ", ") + name + ' ' + format_number(calls / per);
    }
    return text;
}

void wait_for_waiters(pawl::blocking::client& locks, const std::string& name,
                      std::uint64_t waiters) {
    while (locks.inspect(name).waiters < waiters) {}
}

void measure_pair(const bench_context& context, std::vector<row>& rows) {
    pawl::blocking::client locks(pawl::from_url(context.url));
    (void)locks.acquire("bench/pair").release();
    hiredis_client server(context.port);
    constexpr int pairs = 200;
    const auto before = server.calls_per_command();
    for (int i = 0; i < pairs; ++i) {
        (void)locks.acquire("bench/pair").release();
    }
    const auto calls = difference(before, server.calls_per_command());
    std::map<std::string, int> sent;
    std::map<std::string, int> in_script;
    for (const auto& [name, number] : calls) {
        // Commands that Pawl's scripts never call came from the client.
        const bool client = name.starts_with("eval") || name == "script|load" || name == "ping" ||
                            name == "subscribe" || name == "hello";
        (client ? sent : in_script)[name] += static_cast<int>(number);
    }
    rows.push_back(evaluate({.id = "requests.pair",
                             .label = "round trips per uncontended pair",
                             .unit = "requests",
                             .measured = static_cast<double>(total(sent)) / pairs,
                             .note = "INFO commandstats: " + format_counts(sent, pairs) +
                                     "; in the scripts " + format_counts(in_script, pairs)},
                            bound::at_most, 2));
}

// From the release until the waiter runs, as MONITOR sees it.
void measure_handover(const bench_context& context, std::vector<row>& rows) {
    constexpr int times = 50;
    pawl::blocking::client holder(pawl::from_url(context.url));
    support::child waiter = start_worker({"waiter", context.url});
    read_line(waiter);
    std::map<std::string, int> sent;
    std::map<std::string, int> in_script;
    for (int i = 0; i < times; ++i) {
        auto lock = holder.acquire("bench/hand", {.ttl = 5min});
        waiter.write_line("bench/hand");
        wait_for_waiters(holder, "bench/hand", 1);
        monitor watch(context.port);
        (void)lock.release();
        read_line(waiter);  // the waiter has run and has released the lock
        watch.mark();
        const command_counts seen = count(watch.until_mark());
        for (const auto& [name, calls] : seen.sent) {
            sent[name] += calls;
        }
        for (const auto& [name, calls] : seen.in_script) {
            in_script[name] += calls;
        }
    }
    // Two releases: the one of the hand-off, and the waiter's own, which is not part of it.
    sent["EVALSHA release"] -= times;
    const int attempts = sent["EVALSHA acquire"] + sent["EVALSHA refresh"];
    sent.erase("EVALSHA acquire");
    sent.erase("EVALSHA refresh");
    rows.push_back(evaluate(
        {.id = "requests.handoff",
         .label = "requests from the release to the waiter's start",
         .unit = "requests",
         .measured = static_cast<double>(attempts) / times,
         .note = "MONITOR, release to running: " + format_counts(sent, times) + "; pushed " +
                 format_number(in_script["PUBLISH"] / static_cast<double>(times))},
        bound::at_most, 0));
}

}  // namespace

void measure_requests(const bench_context& context, std::vector<row>& rows) {
    progress("requests per pair and per hand-off");
    measure_pair(context, rows);
    measure_handover(context, rows);
}

void measure_waiter(const bench_context& context, std::vector<row>& rows) {
    const auto time = context.options.quick ? 4s : 40s;
    progress("one waiter, " + std::to_string(time.count()) + " s of waiting");
    pawl::blocking::client holder(pawl::from_url(context.url));
    auto lock = holder.acquire("bench/long", {.ttl = 10min});
    support::child waiter = start_worker({"waiter", context.url});
    read_line(waiter);
    waiter.write_line("bench/long");
    wait_for_waiters(holder, "bench/long", 1);
    // The first refresh, after about 1 s, gives the first waiter a place that lives longer. From
    // then on the waiter refreshes at a steady rate.
    std::this_thread::sleep_for(2s);
    monitor watch(context.port);
    std::this_thread::sleep_for(time);
    watch.mark();
    const command_counts seen = count(watch.until_mark());
    (void)lock.release();
    read_line(waiter);
    const double span = std::chrono::duration<double>(time).count();
    rows.push_back(evaluate({.id = "requests.waiter",
                             .label = "requests sent by one waiter",
                             .unit = "per second",
                             .measured = total(seen.sent) / span,
                             .note = "MONITOR, per second: " + format_counts(seen.sent, span)},
                            bound::at_most, 0.2));
}

}  // namespace bench
