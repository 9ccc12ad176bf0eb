// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Work under a lock, for threads and for coroutines. Usage: 08_with_lock [URL]
#include <pawl/blocking.hpp>
#include <pawl/with_lock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <iostream>
#include <thread>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<int> restock(pawl::held_lock& lock) {
    std::cout << "restocked under token " << lock.token() << '\n';
    co_return 10;
}

int main(int argc, char** argv) {
    const auto service = pawl::from_url(argc > 1 ? argv[1] : "memory:");
    pawl::blocking::client locks(service);

    // with_lock releases the lock, also when the work throws, and returns the work's result.
    int books = with_lock(locks, "shelf", {.ttl = 10s, .wait = 1min}, [](auto& lock) {
        std::cout << "counted under token " << lock.token() << '\n';
        return 3;
    });

    // Three attempts at most; if the lock is still taken, the work is skipped.
    const pawl::polling patient{.tries = 3, .interval = 50ms};
    const auto skipped = with_lock(locks, "shelf", {.ttl = 10s}, [&](auto&) {
        return !try_with_lock(locks, "shelf", {.ttl = 10s, .retry = patient}, [](auto&) {});
    });

    asio::io_context loop;
    auto running = asio::make_work_guard(loop);
    std::jthread thread([&] { loop.run(); });
    {
        pawl::client async_locks(loop.get_executor(), service);
        auto more = pawl::with_lock(async_locks, "shelf", {.ttl = 10s, .wait = 1min}, restock);
        books += asio::co_spawn(loop, std::move(more), asio::use_future).get();
    }
    running.reset();
    std::cout << books << " books\n";
    return books == 13 && skipped ? 0 : 1;
}
