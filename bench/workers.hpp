// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The measurements, and their worker processes. Each measurement starts the processes that it
// needs.
#pragma once

#include "hiredis_client.hpp"
#include "measure.hpp"

#include "support/process.hpp"

#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct bench_context {
    settings options;
    std::uint16_t port = 0;
    std::string url;
};

void measure_uncontended(const bench_context& context, std::vector<row>& rows);
void measure_throughput(const bench_context& context, std::vector<row>& rows);
void measure_requests(const bench_context& context, std::vector<row>& rows);
void measure_handoff(const bench_context& context, std::vector<row>& rows);
void measure_waiter(const bench_context& context, std::vector<row>& rows);
void measure_hot(const bench_context& context, std::vector<row>& rows);
void measure_held(const bench_context& context, std::vector<row>& rows);
void measure_counts(const bench_context& context, std::vector<row>& rows);
void measure_no_lock(const bench_context& context, std::vector<row>& rows);

// The two commands that Pawl sends for one uncontended pair, recorded at the server.
struct recorded_pair {
    command_words acquire;
    command_words release;
};
recorded_pair record_pair(const bench_context& context);

// The duration in µs of each of `times` pairs in a coroutine on `loop`.
std::vector<double> time_pairs(boost::asio::io_context& loop, pawl::client& locks,
                               const std::string& name, int times);

// Worker processes. They read lines from standard input and write to standard output.
int waiter_process(const std::string& url);
int subscriber_process(std::uint16_t port);
int hot_process(const std::string& url, const std::string& name, double for_seconds);
int holder_process(const std::string& url, int locks, int ttl_ms);
// Runs pairs, and writes the number of allocations. `kind`: blocking, coroutine or hiredis.
int pairs_process(const std::string& kind, const std::string& url, std::uint16_t port, int pairs);
// Each of the coroutines runs `pairs` pairs of its own name, after a first pair. Writes the
// seconds, the processor's seconds of this process, and the requests. With `replicas`, a grant
// waits for as many.
int load_process(const std::string& url, int coroutines, int pairs, int replicas);
// Measures pairs over independent servers, on commands from standard input: redlock.cpp.
int redlock_process(const std::string& url, std::size_t majority);
void begin_redlock_set(const std::string& url);
// Forwards to each target, "PORT:MICROSECONDS", with that much added to a round trip. Writes the
// ports at which it listens, and ends with its parent.
int delay_process(const std::vector<std::string>& targets);

// Starts a worker process; `arguments` come after "worker".
support::child start_worker(std::vector<std::string> arguments);
// The next line that the worker writes. Throws when the worker has ended.
std::string read_line(const support::child& worker);
void write_line(const std::string& line);

}  // namespace bench
