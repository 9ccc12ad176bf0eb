// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// At most three tasks print at a time, in all processes together: coroutines and threads.
// Usage: 14_semaphore [URL]
#include <pawl/blocking/semaphore.hpp>
#include <pawl/semaphore.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct printer {
    int inside = 0;
    int most = 0;
};

asio::awaitable<void> print(pawl::semaphore permits, printer& slow) {
    auto permit = co_await permits.async_acquire(1, 1min);
    slow.most = std::max(slow.most, ++slow.inside);
    co_await asio::post(asio::use_awaitable);  // other coroutines run here; at most two print
    --slow.inside;
    (void)co_await permit.async_release();
}

int main(int argc, char** argv) {
    const auto service = pawl::from_url(argc > 1 ? argv[1] : "memory:");
    printer slow;
    {
        asio::io_context loop;
        pawl::client locks(loop.get_executor(), service);
        const pawl::semaphore permits(locks, "printer", 3, {.ttl = 10s});
        int done = 0;
        for (int i = 0; i < 20; ++i) {
            asio::co_spawn(loop, print(permits, slow), [&](std::exception_ptr failed) {
                if (failed) std::rethrow_exception(failed);
                if (++done == 20) loop.stop();  // the open client would keep the loop running
            });
        }
        loop.run();
    }
    pawl::blocking::client locks(service);
    pawl::blocking::semaphore permits(locks, "printer", 3, {.ttl = 10s});
    auto two_permits = permits.acquire_permits(2, 10s);  // one handle, with a token and lost()
    permits.acquire();                                   // as std::counting_semaphore
    const bool fourth = permits.try_acquire();
    permits.release();
    std::cout << "at most " << slow.most << " at the printer, token " << two_permits.token()
              << '\n';
    return slow.most <= 3 && !fourth ? 0 : 1;
}
