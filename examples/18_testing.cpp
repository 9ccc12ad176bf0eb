// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Tests of code that uses Pawl: the service is down, the lock is lost, time passes. Usage:
// 18_testing
#include <pawl/blocking.hpp>
#include <pawl/testing.hpp>

#include <future>
#include <iostream>

using namespace std::chrono_literals;

namespace {

// The code under test: imports rows until it is done, or its lock is lost.
std::string import_rows(pawl::blocking::client& locks, std::promise<void>& started) {
    try {
        const auto lock = locks.acquire("import", {.ttl = 10s, .wait = 0s});
        started.set_value();
        std::promise<void> stopped;
        const std::stop_callback on_loss(lock.lost(), [&] { stopped.set_value(); });
        stopped.get_future().wait();  // the rows would be imported here
        return std::string("stopped: ") + to_string(lock.why_lost());
    } catch (const pawl::error& failed) {
        return failed.reason() == pawl::errc::unreachable ? "no service" : "another error";
    }
}

int failures = 0;
void expect(const std::string& actual, const std::string& expected) {
    std::cout << actual << '\n';
    if (actual != expected) ++failures;
}

}  // namespace

int main() {
    pawl::testing::faulty_service service;
    pawl::testing::manual_clock clock;
    pawl::blocking::client locks(service.service(), {.time = clock.time()});

    service.fail(pawl::errc::unreachable);
    std::promise<void> never_started;
    expect(import_rows(locks, never_started), "no service");
    service.recover();

    for (const bool is_forced : {true, false}) {
        std::promise<void> started;
        auto import = std::async([&] { return import_rows(locks, started); });
        started.get_future().wait();
        if (is_forced) {
            service.end_hold("import", pawl::loss_reason::forced);
        } else {
            service.fail();      // no renewal is answered any more,
            clock.advance(10s);  // so the lease ends
        }
        expect(import.get(),
               is_forced ? "stopped: " + std::string(to_string(pawl::loss_reason::forced))
                         : "stopped: " + std::string(to_string(pawl::loss_reason::expired)));
    }
    return failures;
}
