// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A program with an event loop: that of another library, if that has the same Boost.
#include "other.hpp"

#include <pawl/blocking.hpp>
#include <pawl/client.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> use_locks(pawl::client& locks, int& pairs) {
    for (int i = 0; i < 200; ++i) {
        pawl::held_lock held = co_await locks.async_acquire("it", {}, asio::deferred);
        const pawl::release_result result = co_await held.async_release(asio::deferred);
        if (result == pawl::release_result::released) ++pairs;
    }
    const pawl::held_lock held = co_await locks.async_acquire("it", {}, asio::deferred);
    boost::system::error_code failure;
    try {
        co_await locks.async_acquire("it", {}, asio::cancel_after(10ms, asio::deferred));
    } catch (const boost::system::system_error& thrown) {
        failure = thrown.code();
    }
    if (failure == asio::error::operation_aborted) ++pairs;
}

int run(asio::io_context& loop, bool of_other) {
    const pawl::service service = pawl::memory::at();
    int pairs = 0;
    {
        pawl::client locks(loop.get_executor(), service);
        asio::co_spawn(loop, use_locks(locks, pairs), [&](std::exception_ptr failure) {
            loop.stop();
            if (failure) std::rethrow_exception(failure);
        });
        of_other ? run_other_loop() : static_cast<void>(loop.run());
    }
    pawl::blocking::client locks(service);
    return pairs == 201 && locks.acquire("another").owns_lock() ? 0 : 1;
}

}  // namespace

int main() {
    constexpr std::size_t rounds = 500;
    std::size_t completed = 0;
    std::thread beside([&] { completed = run_other(rounds); });
    asio::io_context own;
    void* const others = other_loop();
    const int status = run(others ? *static_cast<asio::io_context*>(others) : own, others);
    beside.join();
    std::cout << completed << " completed, status " << status << '\n';
    return completed == 4 * rounds ? status : 10;
}
