// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "workers.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>

namespace bench {

using namespace std::chrono_literals;

support::child start_worker(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "worker");
    return support::child("/proc/self/exe", std::move(arguments));
}

std::string read_line(const support::child& worker) {
    std::string line;
    for (char c = 0; ::read(worker.output(), &c, 1) == 1;) {
        if (c == '\n') {
            return line;
        }
        line += c;
    }
    throw std::runtime_error("a helper process ended: " + line);
}

void write_line(const std::string& line) {
    const std::string text = line + '\n';
    if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw std::runtime_error("the output has no reader any more");
    }
}

// Input "NAME": acquires, notes the time, releases, writes the time.
int waiter_process(const std::string& url) {
    pawl::blocking::client locks(pawl::from_url(url));
    write_line("ready");
    for (std::string name; std::getline(std::cin, name);) {
        auto lock = locks.acquire(name, {.ttl = 5min});
        const auto running = pawl::boot_clock::now();
        (void)lock.release();
        write_line(std::to_string(running.time_since_epoch().count()));
    }
    return 0;
}

// Writes the time of receipt of every message on "bench".
int subscriber_process(std::uint16_t port) {
    hiredis_client server(port);
    server.call({"SUBSCRIBE", "bench"});
    write_line("ready");
    while (server.receive() != "stop") {
        write_line(std::to_string(pawl::boot_clock::now().time_since_epoch().count()));
    }
    return 0;
}

// Acquires and releases one lock again and again. Writes the count, and the p50 and p99 of the
// waits in µs.
int hot_process(const std::string& url, const std::string& name, double for_seconds) {
    pawl::blocking::client locks(pawl::from_url(url));
    { const auto warm = locks.try_acquire("warm/" + std::to_string(::getpid())); }
    write_line("ready");
    std::string go;
    std::getline(std::cin, go);
    const auto end = pawl::boot_clock::now() + std::chrono::duration_cast<pawl::duration>(
                                                   std::chrono::duration<double>(for_seconds));
    std::vector<double> waits;
    try {
        while (pawl::boot_clock::now() < end) {
            const auto began = pawl::boot_clock::now();
            auto lock = locks.acquire(
                name, {.ttl = 30s, .wait = std::max(end - began, pawl::duration(1ms))});
            waits.push_back(seconds(pawl::boot_clock::now() - began) * 1e6);
            (void)lock.release();
        }
    } catch (const pawl::error& e) {
        if (e.reason() != pawl::errc::timed_out) {
            throw;
        }
    }
    const bool none = waits.empty();
    write_line(std::to_string(waits.size()) + ' ' +
               std::to_string(none ? 0 : percentile(waits, 0.5)) + ' ' +
               std::to_string(none ? 0 : percentile(waits, 0.99)));
    return 0;
}

}  // namespace bench
