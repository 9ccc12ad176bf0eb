// What the server is asked for: per uncontended pair, per hand-off, and by one waiter that only
// waits.
#include "workers.hpp"

#include <pawl/blocking.hpp>

#include <map>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using namespace std::chrono_literals;

struct counted {
    std::map<std::string, int> sent;       // by clients
    std::map<std::string, int> in_script;  // by the scripts
};

counted count(const std::vector<monitor::line>& lines) {
    counted result;
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

std::string list(const std::map<std::string, int>& counts, double per) {
    std::string text;
    for (const auto& [name, calls] : counts) {
        text += (text.empty() ? "" : ", ") + name + ' ' + figure(calls / per);
    }
    return text;
}

void wait_for_waiters(pawl::blocking::client& locks, const std::string& name,
                      std::uint64_t waiters) {
    while (locks.inspect(name).waiters < waiters) {}
}

void measure_pair(const scene& where, std::vector<row>& rows) {
    pawl::blocking::client locks(pawl::from_url(where.url));
    locks.acquire("bench/pair").release();
    wire server(where.port);
    constexpr int pairs = 200;
    const auto before = server.calls_per_command();
    for (int i = 0; i < pairs; ++i) {
        locks.acquire("bench/pair").release();
    }
    const auto calls = difference(before, server.calls_per_command());
    std::map<std::string, int> sent;
    std::map<std::string, int> in_script;
    for (const auto& [name, number] : calls) {
        // What our scripts never call came from the client.
        const bool client = name.starts_with("eval") || name == "script|load" || name == "ping" ||
                            name == "subscribe" || name == "hello";
        (client ? sent : in_script)[name] += static_cast<int>(number);
    }
    rows.push_back(judged({.id = "requests.pair",
                           .what = "round trips per uncontended pair",
                           .unit = "requests",
                           .measured = static_cast<double>(total(sent)) / pairs,
                           .note = "INFO commandstats: " + list(sent, pairs) + "; in the scripts " +
                                   list(in_script, pairs)},
                          bound::at_most, 2));
}

// From the release until the waiter runs, seen by MONITOR.
void measure_handover(const scene& where, std::vector<row>& rows) {
    constexpr int times = 50;
    pawl::blocking::client one(pawl::from_url(where.url));
    support::child two = start_worker({"waiter", where.url});
    next_line(two);
    std::map<std::string, int> sent;
    std::map<std::string, int> in_script;
    for (int i = 0; i < times; ++i) {
        auto lock = one.acquire("bench/hand", {.ttl = 5min});
        two.write_line("bench/hand");
        wait_for_waiters(one, "bench/hand", 1);
        monitor watch(where.port);
        lock.release();
        next_line(two);  // it ran, and has given the lock back
        watch.mark();
        const counted seen = count(watch.until_mark());
        for (const auto& [name, calls] : seen.sent) {
            sent[name] += calls;
        }
        for (const auto& [name, calls] : seen.in_script) {
            in_script[name] += calls;
        }
    }
    // Two releases: the hand-off's and the waiter's own afterwards, which is not part of it.
    sent["EVALSHA release"] -= times;
    const int attempts = sent["EVALSHA acquire"] + sent["EVALSHA look"];
    sent.erase("EVALSHA acquire");
    sent.erase("EVALSHA look");
    rows.push_back(
        judged({.id = "requests.handoff",
                .what = "second attempts per hand-off",
                .unit = "requests",
                .measured = static_cast<double>(attempts) / times,
                .note = "MONITOR, release to running: " + list(sent, times) + "; pushed " +
                        figure(in_script["PUBLISH"] / static_cast<double>(times))},
               bound::at_most, 0));
}

}  // namespace

void measure_requests(const scene& where, std::vector<row>& rows) {
    progress("requests per pair and per hand-off");
    measure_pair(where, rows);
    measure_handover(where, rows);
}

void measure_waiter(const scene& where, std::vector<row>& rows) {
    const auto time = where.how.quick ? 4s : 20s;
    progress("one waiter, " + std::to_string(time.count()) + " s of waiting");
    pawl::blocking::client one(pawl::from_url(where.url));
    auto lock = one.acquire("bench/long", {.ttl = 10min});
    support::child two = start_worker({"waiter", where.url});
    next_line(two);
    two.write_line("bench/long");
    wait_for_waiters(one, "bench/long", 1);
    monitor watch(where.port);
    std::this_thread::sleep_for(time);
    watch.mark();
    const counted seen = count(watch.until_mark());
    lock.release();
    next_line(two);
    const double span = std::chrono::duration<double>(time).count();
    rows.push_back(judged({.id = "requests.waiter",
                           .what = "requests sent by one waiter",
                           .unit = "per second",
                           .measured = total(seen.sent) / span,
                           .note = "MONITOR, per second: " + list(seen.sent, span)},
                          bound::at_most, 1));
}

}  // namespace bench
