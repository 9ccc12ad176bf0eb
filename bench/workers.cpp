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

std::string next_line(const support::child& worker) {
    std::string line;
    for (char c = 0; ::read(worker.output(), &c, 1) == 1;) {
        if (c == '\n') {
            return line;
        }
        line += c;
    }
    throw std::runtime_error("a helper process ended: " + line);
}

void say(const std::string& line) {
    const std::string text = line + '\n';
    if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw std::runtime_error("nobody listens any more");
    }
}

// "wait NAME": acquires, notes the time, gives back, says the time.
int waiter_process(const std::string& url) {
    pawl::blocking::client locks(pawl::from_url(url));
    say("ready");
    for (std::string name; std::getline(std::cin, name);) {
        auto lock = locks.acquire(name, {.ttl = 5min});
        const auto running = pawl::boot_clock::now();
        lock.release();
        say(std::to_string(running.time_since_epoch().count()));
    }
    return 0;
}

// Notes the time of every message on "bench" and says it.
int subscriber_process(std::uint16_t port) {
    wire server(port);
    server.call({"SUBSCRIBE", "bench"});
    say("ready");
    while (server.receive() != "stop") {
        say(std::to_string(pawl::boot_clock::now().time_since_epoch().count()));
    }
    return 0;
}

// Takes and gives back one lock again and again; says how often, and the p50 and p99 of the waits
// in µs.
int hot_process(const std::string& url, const std::string& name, double for_seconds) {
    pawl::blocking::client locks(pawl::from_url(url));
    { const auto warm = locks.try_acquire("warm/" + std::to_string(::getpid())); }
    say("ready");
    std::string go;
    std::getline(std::cin, go);
    const auto end = pawl::boot_clock::now() + std::chrono::duration_cast<pawl::duration>(
                                                   std::chrono::duration<double>(for_seconds));
    std::vector<double> waits;
    try {
        while (pawl::boot_clock::now() < end) {
            const auto asked = pawl::boot_clock::now();
            auto lock = locks.acquire(
                name, {.ttl = 30s, .wait = std::max(end - asked, pawl::duration(1ms))});
            waits.push_back(seconds(pawl::boot_clock::now() - asked) * 1e6);
            lock.release();
        }
    } catch (const pawl::error& e) {
        if (e.reason() != pawl::errc::timed_out) {
            throw;
        }
    }
    const bool none = waits.empty();
    say(std::to_string(waits.size()) + ' ' + std::to_string(none ? 0 : percentile(waits, 0.5)) +
        ' ' + std::to_string(none ? 0 : percentile(waits, 0.99)));
    return 0;
}

}  // namespace bench
