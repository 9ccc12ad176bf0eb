// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks for coroutines, in memory: the library's compiled part of Asio and the headers' inline part
// agree.
#include <pawl/client.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> take_and_give_back(pawl::client& locks) {
    pawl::held_lock held = co_await locks.async_acquire("it", {}, asio::use_awaitable);
    std::cout << "token " << held.token() << '\n';
    (void)co_await held.async_release(asio::use_awaitable);
}

int main() {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::memory::at());
    asio::co_spawn(loop, take_and_give_back(locks), [&](std::exception_ptr failure) {
        loop.stop();
        if (failure) std::rethrow_exception(failure);
    });
    loop.run();
}
