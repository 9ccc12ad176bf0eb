// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A hundred coroutines on one thread, one lock. Usage: 02_coroutines [URL]
#include <pawl/client.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct shelf {
    int books = 100;
    int sold = 0;
};

asio::awaitable<void> buy(pawl::client& locks, shelf& stock) {
    pawl::held_lock lock = co_await locks.async_acquire("shelf", {.ttl = 10s, .wait = 1min});
    const int seen = stock.books;
    co_await asio::post(asio::use_awaitable);  // other coroutines run here, without the lock
    stock.books = seen - 1;
    ++stock.sold;
    const auto result = co_await lock.async_release();
    if (result != pawl::release_result::released)
        std::cerr << "The lock may have ended before: " << to_string(result) << '\n';
}

int main(int argc, char** argv) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(argc > 1 ? argv[1] : "memory:"));

    shelf stock;
    int done = 0;
    for (int i = 0; i < 100; ++i) {
        asio::co_spawn(loop, buy(locks, stock), [&](std::exception_ptr failed) {
            if (failed) {
                std::rethrow_exception(failed);
            }
            if (++done == 100) {
                locks.async_close(asio::detached);  // an open client keeps the loop running
            }
        });
    }
    loop.run();
    std::cout << "sold " << stock.sold << ", left " << stock.books << '\n';
    return stock.books == 0 ? 0 : 1;
}
