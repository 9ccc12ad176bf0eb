// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// pawl_layers STORE "URL LOCKS": operations in a store, with locks at another URL. Each line of
// input is VARIANT COUNT; the answer is a line of JSON.
#include "variants.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace layers {

namespace {

std::string repeat(store& tested, const std::string& variant, int count) {
    const auto step = tested.variants().find(variant);
    if (step == tested.variants().end())
        throw std::invalid_argument("there is no variant " + variant);
    const auto statements = tested.statements();
    const auto commits = tested.commits();
    std::ostringstream times;
    times.precision(9);
    for (int i = 0; i < count; ++i) {
        const auto begin = pawl::boot_clock::now();
        step->second();
        const std::chrono::duration<double, std::micro> span = pawl::boot_clock::now() - begin;
        times << (i > 0 ? "," : "") << span.count();
    }
    return "{\"statements\": " + std::to_string(tested.statements() - statements) +
           ", \"commits\": " + std::to_string(tested.commits() - commits) + ", \"us\": [" +
           times.str() + "]}";
}

int run(const std::string& kind, const std::string& place) {
    const auto space = place.find(' ');
    pawl::blocking::client locks(pawl::from_url(place.substr(space + 1)));
    const auto url = place.substr(0, space);
    const auto tested =
        kind == "redis" ? open_redis_store(url, locks) : open_database_store(url, locks);
    std::cout << "{}" << std::endl;
    for (std::string line; std::getline(std::cin, line) && line != "quit";) {
        std::istringstream words(line);
        std::string variant;
        int count = 0;
        words >> variant >> count;
        std::cout << repeat(*tested, variant, count) << std::endl;
    }
    return 0;
}

}  // namespace

}  // namespace layers

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    try {
        if (argc != 3) throw std::invalid_argument("usage: pawl_layers STORE \"URL LOCKS\"");
        return layers::run(argv[1], argv[2]);
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "pawl_layers: %s\n", failure.what());
        return 1;
    }
}
