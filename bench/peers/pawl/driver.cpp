// pawl_peer FACE PORT: Pawl behind the line protocol of ../README.md.
#include "face.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <mutex>
#include <random>
#include <sstream>
#include <stdexcept>

namespace peers {

double microseconds(pawl::duration span) {
    return std::chrono::duration<double, std::micro>(span).count();
}

pawl::duration pause() {
    thread_local std::mt19937 chance{std::random_device{}()};
    return std::chrono::microseconds(std::uniform_int_distribution(2'000, 12'000)(chance));
}

namespace {

// What a loss or a waiter says comes from other threads.
void say(const std::string& line) {
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

std::string pairs_line(const pairs_result& found) {
    return "{\"pairs\": " + std::to_string(found.pairs) +
           ", \"seconds\": " + std::to_string(found.seconds) + ", \"us\": " + numbers(found.us) +
           '}';
}

std::string answer(face& locks, bool redisson, std::istringstream words) {
    std::string verb;
    words >> verb;
    if (verb == "pairs") {
        int users = 0;
        double seconds = 0;
        words >> users >> seconds;
        return pairs_line(locks.pairs(users, seconds));
    }
    if (verb == "handoff") {
        int users = 0;
        int clients = 0;
        double seconds = 0;
        words >> users >> clients >> seconds;
        return "{\"us\": " + numbers(locks.handoff(users, clients, seconds)) + '}';
    }
    std::string name;
    words >> name;
    if (verb == "take") {
        locks.take(name);
    } else if (verb == "give") {
        locks.give(name);
    } else if (verb == "wait") {
        locks.wait(name, [name] { say("{\"got\": \"" + name + "\"}"); });
    } else if (verb == "watch") {
        int ttl_ms = 0;
        words >> ttl_ms;
        locks.watch(name, std::chrono::milliseconds(ttl_ms), [] { say("{\"lost\": \"lost()\"}"); });
        return "{\"key\": \"" + (redisson ? name : "pawl:{" + name + '}') + "\"}";
    } else {
        throw std::invalid_argument("unknown command " + verb);
    }
    return "{\"ok\": true}";
}

int run(const std::string& kind, const std::string& port) {
    const bool redisson = kind == "redisson";
    const std::string url = "redis://127.0.0.1:" + port + (redisson ? "?layout=redisson" : "");
    const auto locks = kind == "threads" ? make_threads(url) : make_coroutines(url);
    say("{\"version\": \"" PAWL_VERSION "\", \"runtime\": \"GCC " __VERSION__ "\", \"warm\": 0.5}");
    for (std::string line; std::getline(std::cin, line) && line != "quit";) {
        say(answer(*locks, redisson, std::istringstream(line)));
    }
    return 0;
}

}  // namespace

}  // namespace peers

int main(int argc, char** argv) {
    try {
        if (argc != 3) throw std::invalid_argument("usage: pawl_peer FACE PORT");
        return peers::run(argv[1], argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "pawl_peer: %s\n", e.what());
        return 1;
    }
}
