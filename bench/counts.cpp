// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Counts of uncontended pairs: system calls, instructions, bytes and allocations. They hardly
// depend on the machine and its load. System calls and instructions are the difference between two
// worker processes, of which one runs few pairs and the other runs more, so they contain no
// start-up. The server counts the bytes of a client in this process. A worker counts its own
// allocations after a first pair.
#include "allocations.hpp"
#include "workers.hpp"

#include <pawl/blocking.hpp>
#include <pawl/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

namespace asio = boost::asio;

constexpr int few_pairs = 200;

asio::awaitable<void> run_pairs(pawl::client& locks, int pairs) {
    for (int i = 0; i < pairs; ++i) {
        pawl::held_lock lock = co_await locks.async_acquire("bench/pair", {}, asio::use_awaitable);
        (void)co_await lock.async_release(asio::use_awaitable);
    }
}

void run_blocking(const std::string& url, int pairs) {
    pawl::blocking::client locks(pawl::from_url(url));
    (void)locks.acquire("bench/pair").release();
    const auto before = allocations_of_this_thread();
    for (int i = 0; i < pairs; ++i)
        (void)locks.acquire("bench/pair").release();
    write_line(std::to_string(allocations_of_this_thread() - before));
}

void run_coroutine(const std::string& url, int pairs) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(url));
    const auto run = [&](int times) {
        asio::co_spawn(loop, run_pairs(locks, times), [&](const std::exception_ptr& failed) {
            loop.stop();
            if (failed) std::rethrow_exception(failed);
        });
        loop.run();
        loop.restart();
    };
    run(1);
    const auto before = allocations_of_this_thread();
    run(pairs);
    write_line(std::to_string(allocations_of_this_thread() - before));
}

void run_hiredis(const bench_context& context, int pairs) {
    const recorded_pair pair = record_pair(context);
    hiredis_client server(context.port);
    for (int i = 0; i < pairs; ++i) {
        server.call(pair.acquire);
        server.call(pair.release);
    }
    write_line("0");
}

// Runs strace or valgrind, which write their counts to a file, until the end.
void run_tool(const std::string& program, std::vector<std::string> arguments) {
    support::child tool(program, std::move(arguments));
    char ignored[4096];
    while (::read(tool.output(), ignored, sizeof ignored) > 0) {}
    if (const int status = tool.wait(); status != 0)
        throw std::runtime_error(program + " failed with " + std::to_string(status) +
                                 "; ./dev bench installs it.");
}

std::vector<std::string> worker_command(const bench_context& context, const std::string& kind,
                                        int pairs) {
    return {std::filesystem::read_symlink("/proc/self/exe"),
            "worker",
            "pairs",
            kind,
            context.url,
            std::to_string(context.port),
            std::to_string(pairs)};
}

std::vector<std::string> joined(std::vector<std::string> left,
                                const std::vector<std::string>& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

std::string content_of(const std::string& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// System calls except futex, by their names.
std::map<std::string, std::int64_t> system_calls(const bench_context& context,
                                                 const std::string& kind, int pairs,
                                                 const std::string& file) {
    run_tool("strace", joined({"-f", "-c", "-U", "calls,name", "-e", "trace=!futex", "-o", file},
                              worker_command(context, kind, pairs)));
    std::map<std::string, std::int64_t> calls;
    std::istringstream lines(content_of(file));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::int64_t number = 0;
        std::string name;
        if (words >> number >> name && name != "total") calls[name] += number;
    }
    if (calls.empty()) throw std::runtime_error("strace reported no system calls.");
    return calls;
}

std::int64_t instructions(const bench_context& context, const std::string& kind, int pairs,
                          const std::string& file) {
    run_tool("valgrind",
             joined({"--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file=" + file},
                    worker_command(context, kind, pairs)));
    const auto text = content_of(file);
    const std::string label = "Collected : ";
    const auto position = text.find(label);
    if (position == std::string::npos)
        throw std::runtime_error("valgrind reported no instructions: " + text);
    return std::stoll(text.substr(position + label.size()));
}

void count_system_calls(const bench_context& context, const std::string& file,
                        std::vector<row>& rows) {
    const int pairs = context.options.quick ? 200 : 2000;
    const auto per_request = [&](const std::string& kind, std::string& names) {
        const auto before = system_calls(context, kind, few_pairs, file);
        const auto after = system_calls(context, kind, few_pairs + pairs, file);
        double sum = 0;
        for (const auto& [name, calls] : difference(before, after)) {
            const double share = static_cast<double>(calls) / (2.0 * pairs);
            if (share < 0.01) continue;
            sum += share;
            names += (names.empty() ? "" : ", ") + name + ' ' + format_number(share);
        }
        return sum;
    };
    std::string names, baseline_names;
    const double baseline = per_request("hiredis", baseline_names);
    for (const std::string kind : {"blocking", "coroutine"}) {
        names.clear();
        const double measured = per_request(kind, names);
        progress("system calls, " + kind + ": " + names);
        rows.push_back(
            evaluate({.id = "counts.system_calls." + kind,
                      .label = "system calls of one uncontended request, " + kind,
                      .unit = "calls",
                      .measured = measured,
                      .baseline_name = "hiredis",
                      .baseline = baseline,
                      .ratio = measured / baseline,
                      .note = "without futex: " + names + "; hiredis: " + baseline_names},
                     bound::at_most, 1.5));
    }
}

void count_instructions(const bench_context& context, const std::string& file,
                        std::vector<row>& rows) {
    const int pairs = context.options.quick ? 200 : 1000;
    const auto per_pair = [&](const std::string& kind) {
        const auto before = instructions(context, kind, few_pairs, file);
        const auto after = instructions(context, kind, few_pairs + pairs, file);
        return static_cast<double>(after - before) / pairs;
    };
    const double baseline = per_pair("hiredis");
    for (const std::string kind : {"blocking", "coroutine"}) {
        const double measured = per_pair(kind);
        progress("instructions, " + kind + ": " + format_number(measured));
        rows.push_back(evaluate({.id = "counts.instructions." + kind,
                                 .label = "instructions of one uncontended pair, " + kind,
                                 .unit = "instructions",
                                 .measured = measured,
                                 .baseline_name = "hiredis, the same two scripts",
                                 .baseline = baseline,
                                 .ratio = measured / baseline,
                                 .note = "callgrind: in the client's process, without the kernel"},
                                bound::at_most, 1.3));
    }
}

std::int64_t traffic(hiredis_client& server) {
    return std::stoll(server.info("stats", "total_net_input_bytes")) +
           std::stoll(server.info("stats", "total_net_output_bytes"));
}

template <class Pair>
double bytes_per_pair(hiredis_client& server, Pair&& pair) {
    constexpr int pairs = 200;
    const auto start = traffic(server);
    const auto cost_of_asking = traffic(server) - start;
    const auto before = traffic(server);
    for (int i = 0; i < pairs; ++i)
        pair();
    return static_cast<double>(traffic(server) - before - cost_of_asking) / pairs;
}

// The baseline has the same keys and value, but no queue, no floor of the token, and no hand-off.
void count_bytes(const bench_context& context, std::vector<row>& rows) {
    const recorded_pair pair = record_pair(context);
    hiredis_client server(context.port);
    const std::string lock = pair.acquire.at(3), fence = pair.acquire.at(4);
    const std::string value = pair.release.at(3 + std::stoul(pair.release.at(2)));
    const auto acquire =
        server.call({"SCRIPT", "LOAD",
                     "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then "
                     "return redis.call('INCR', KEYS[2]) end"});
    const auto release = server.call(
        {"SCRIPT", "LOAD",
         "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"});
    const double baseline = bytes_per_pair(server, [&] {
        server.call({"EVALSHA", acquire, "2", lock, fence, value, "30000"});
        server.call({"EVALSHA", release, "1", lock, value});
    });
    pawl::blocking::client locks(pawl::from_url(context.url));
    (void)locks.acquire("bench/pair").release();
    const double measured =
        bytes_per_pair(server, [&] { (void)locks.acquire("bench/pair").release(); });
    rows.push_back({.id = "counts.bytes",
                    .label = "bytes of one uncontended pair, both ways",
                    .unit = "bytes",
                    .measured = measured,
                    .baseline_name = "the smallest EVALSHA with a token",
                    .baseline = baseline,
                    .ratio = measured / baseline,
                    .note = "INFO stats: total_net_input_bytes + total_net_output_bytes"});
}

void count_allocations(const bench_context& context, std::vector<row>& rows) {
    constexpr int pairs = 1000;
    for (const std::string kind : {"blocking", "coroutine"}) {
        const support::child worker = start_worker(
            {"pairs", kind, context.url, std::to_string(context.port), std::to_string(pairs)});
        const double measured = std::stod(read_line(worker)) / pairs;
        rows.push_back(evaluate({.id = "counts.allocations." + kind,
                                 .label = "allocations of one uncontended pair, " + kind,
                                 .unit = "allocations",
                                 .measured = measured,
                                 .note = "operator new, in the thread of the caller"},
                                bound::at_most, 8));
    }
}

}  // namespace

int pairs_process(const std::string& kind, const std::string& url, std::uint16_t port, int pairs) {
    if (kind == "blocking") {
        run_blocking(url, pairs);
    } else if (kind == "coroutine") {
        run_coroutine(url, pairs);
    } else {
        bench_context context;
        context.url = url;
        context.port = port;
        run_hiredis(context, pairs);
    }
    return 0;
}

void measure_counts(const bench_context& context, std::vector<row>& rows) {
    const support::temporary_folder folder;
    const std::string file = (folder.path() / "counts").string();
    count_system_calls(context, file, rows);
    count_instructions(context, file, rows);
    count_bytes(context, rows);
    count_allocations(context, rows);
}

}  // namespace bench
