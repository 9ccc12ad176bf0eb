// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// pawl_store_baseline STORE:KIND PLACE: a baseline behind the line protocol of ../../peers. `pairs`
// and `handoff` have one user, or two; `listen N` adds listeners.
#include "baseline.hpp"

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace baselines {

namespace {

using clock = std::chrono::steady_clock;

std::unique_ptr<baseline> make(const std::string& kind, const std::string& place) {
    const auto colon = kind.find(':');
    const auto store = kind.substr(0, colon);
    if (colon == std::string::npos || (store != "postgres" && store != "mariadb"))
        throw std::runtime_error("there is no baseline " + kind);
    const auto make_at = store == "postgres" ? make_postgres : make_mariadb;
    return make_at(kind.substr(colon + 1), place);
}

// The times of the calls in µs, until the time is over.
std::string repeat(double seconds, const std::function<double()>& call) {
    std::ostringstream times;
    times.precision(9);
    const auto begin = clock::now();
    const auto span = [&] { return std::chrono::duration<double>(clock::now() - begin).count(); };
    int count = 0;
    for (; span() < seconds; ++count)
        times << (count > 0 ? "," : "") << call();
    return "{\"pairs\": " + std::to_string(count) + ", \"seconds\": " + std::to_string(span()) +
           ", \"us\": [" + times.str() + "]}";
}

std::string execute(baseline& store, std::istringstream words) {
    std::string verb;
    int users = 0;
    int clients = 0;
    double seconds = 0;
    words >> verb;
    if (verb == "pairs") {
        words >> users >> seconds;
        return repeat(seconds, [&] {
            const auto begin = clock::now();
            store.acquire();
            store.release();
            return std::chrono::duration<double, std::micro>(clock::now() - begin).count();
        });
    }
    if (verb == "handoff") {
        words >> users >> clients >> seconds;
        return repeat(seconds, [&] { return store.hand_over(); });
    }
    if (verb == "listen") {
        words >> users;
        store.add_listeners(users);
    } else {
        throw std::invalid_argument("unknown command " + verb);
    }
    return "{\"ok\": true}";
}

int run(const std::string& kind, const std::string& place) {
    const auto store = make(kind, place);
    std::cout << "{\"version\": \"\", \"runtime\": \"\", \"warm\": 0}" << std::endl;
    for (std::string line; std::getline(std::cin, line) && line != "quit";)
        std::cout << execute(*store, std::istringstream(line)) << std::endl;
    return 0;
}

}  // namespace

}  // namespace baselines

int main(int argc, char** argv) {
    try {
        if (argc != 3) throw std::invalid_argument("usage: pawl_store_baseline STORE:KIND PLACE");
        return baselines::run(argv[1], argv[2]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "pawl_store_baseline: %s\n", e.what());
        return 1;
    }
}
