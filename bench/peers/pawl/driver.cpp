// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// pawl_peer KIND PLACE: Pawl behind the line protocol of ../README.md. KIND: coroutines, threads,
// or redisson, which is coroutines in Redisson's layout. PLACE: a server's port,
// sentinel:PORT,PORT,…/MASTER, redlock:PORT,PORT,… or a URL.
#include "lock_driver.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace peers {

double microseconds(pawl::duration span) {
    return std::chrono::duration<double, std::micro>(span).count();
}

pawl::duration random_hold_time() {
    thread_local std::mt19937 generator{std::random_device{}()};
    return std::chrono::microseconds(std::uniform_int_distribution(2'000, 12'000)(generator));
}

namespace {

// Losses and waiters write from other threads.
void write_line(const std::string& line) {
    static std::mutex output;
    const std::lock_guard guard(output);
    std::cout << line << std::endl;
}

std::string numbers(const std::vector<double>& values) {
    std::ostringstream text;
    text.precision(9);
    for (const double each : values)
        text << (text.tellp() > 0 ? "," : "") << each;
    return '[' + text.str() + ']';
}

std::string to_json(const pairs_result& result) {
    return "{\"pairs\": " + std::to_string(result.pairs) +
           ", \"seconds\": " + std::to_string(result.seconds) + ", \"us\": " + numbers(result.us) +
           '}';
}

std::string execute(lock_driver& locks, bool redisson, std::istringstream words) {
    std::string verb;
    words >> verb;
    if (verb == "pairs") {
        int users = 0;
        double seconds = 0;
        words >> users >> seconds;
        return to_json(locks.measure_pairs(users, seconds));
    }
    if (verb == "handoff") {
        int users = 0;
        int clients = 0;
        double seconds = 0;
        words >> users >> clients >> seconds;
        return "{\"us\": " + numbers(locks.measure_handoff(users, clients, seconds)) + '}';
    }
    std::string name;
    words >> name;
    if (verb == "take") {
        locks.acquire(name);
    } else if (verb == "give") {
        locks.release(name);
    } else if (verb == "wait") {
        locks.acquire_in_background(name, [name] { write_line("{\"got\": \"" + name + "\"}"); });
    } else if (verb == "watch") {
        int ttl_ms = 0;
        words >> ttl_ms;
        locks.watch_loss(name, std::chrono::milliseconds(ttl_ms),
                         [] { write_line("{\"lost\": \"lost()\"}"); });
        return "{\"key\": \"" + (redisson ? name : "pawl:{" + name + '}') + "\"}";
    } else {
        throw std::invalid_argument("unknown command " + verb);
    }
    return "{\"ok\": true}";
}

std::string url_of(std::string_view place) {
    if (place.find("://") != std::string_view::npos) return std::string(place);
    const auto colon = place.find(':');
    if (colon == std::string_view::npos) return "redis://127.0.0.1:" + std::string(place);
    std::string url(place.starts_with("redlock:") ? "redlock" : "redis+sentinel");
    url += "://127.0.0.1:";
    for (const char each : place.substr(colon + 1))
        url += each == ',' ? std::string(",127.0.0.1:") : std::string(1, each);
    return url;
}

int run(const std::string& kind, const std::string& place) {
    const bool redisson = kind == "redisson";
    const std::string url = url_of(place) + (redisson ? "?layout=redisson" : "");
    const auto locks = kind == "threads" ? make_threads(url) : make_coroutines(url);
    write_line("{\"version\": \"" PAWL_VERSION "\", \"runtime\": \"GCC " __VERSION__
               "\", \"warm\": 0.5}");
    for (std::string line; std::getline(std::cin, line) && line != "quit";) {
        write_line(execute(*locks, redisson, std::istringstream(line)));
    }
    return 0;
}

}  // namespace

}  // namespace peers

int main(int argc, char** argv) {
    try {
        if (argc != 3) throw std::invalid_argument("usage: pawl_peer KIND PLACE");
        return peers::run(argv[1], argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "pawl_peer: %s\n", e.what());
        return 1;
    }
}
