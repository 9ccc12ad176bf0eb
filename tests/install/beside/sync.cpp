// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A program with threads, which knows no Asio, beside a library that uses it.
#include "other.hpp"

#include <pawl/blocking.hpp>
#include <pawl/memory.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;

namespace {

int use_locks() {
    const pawl::service service = pawl::memory::at();
    pawl::blocking::client locks(service);
    pawl::blocking::client others(service);
    for (int i = 0; i < 200; ++i) {
        auto held = locks.acquire("it");
        if (others.try_acquire("it").owns_lock()) return 1;
        if (held.release() != pawl::release_result::released) return 2;
    }
    const auto held = locks.acquire("it");
    try {
        (void)others.acquire("it", {.wait = 20ms});
        return 3;
    } catch (const pawl::error& failure) {
        if (failure.reason() != pawl::errc::timed_out) return 4;
    }
    return 0;
}

}  // namespace

int main() {
    constexpr std::size_t rounds = 500;
    std::size_t completed = run_other(rounds);
    std::thread beside([&] { completed += run_other(rounds); });
    const int status = use_locks();
    beside.join();
    std::cout << completed << " completed, status " << status << '\n';
    if (completed != 2 * 4 * rounds) return 10;
    return status;
}
